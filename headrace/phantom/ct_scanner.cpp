#include "headrace/phantom/ct_scanner.hpp"

#include <fmt/format.h>

#include <array>

#include "headrace/phantom/draws.hpp"

namespace headrace::phantom {

CtScanner ct_scanner(std::uint64_t seed, int scanner) {
  static const std::array<CtScanner, 4> kScanners{{
      {"ct-soft-3mm", 3.0f, 13, 11, 13, 1.0f, 0},
      {"ct-sharp-5mm", 5.0f, 17, -6, -4, 0.985f, 6},
      {"ct-thin-1mm", 1.0f, 26, 4, 6, 1.01f, -4},
      {"ct-medium-2mm", 2.0f, 20, 2, 9, 0.99f, 3},
  }};
  if (scanner < static_cast<int>(kScanners.size()))
    return kScanners[static_cast<std::size_t>(scanner)];
  const Draws draws(seed, 0);
  const auto a = draws.at(Purpose::ct_scanner, scanner, 0),
             b = draws.at(Purpose::ct_scanner, scanner, 1);
  const float thickness = static_cast<float>(2 + (a.v[0] >> 24) % 9) * 0.5f;  // 1 to 5 mm
  return {fmt::format("ct-{}", scanner + 1),
          thickness,
          between(a.v[1], 10, 28),
          static_cast<int>(between(a.v[2], -8, 14)),
          static_cast<int>(between(a.v[3], -6, 14)),
          between(b.v[0], 0.98f, 1.02f),
          between(b.v[1], -8, 8)};
}

}  // namespace headrace::phantom
