#include "headrace/phantom/scanner_look.hpp"

#include <fmt/format.h>

#include <cmath>

#include "headrace/phantom/draws.hpp"

namespace headrace::phantom {
namespace {

std::array<float, 3> unit(std::array<float, 3> v) {
  const float length = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  return {v[0] / length, v[1] / length, v[2] / length};
}

}  // namespace

ScannerLook scanner_look(std::uint64_t seed, int scanner) {
  ScannerLook look;
  switch (scanner) {
    case 0:
      look = {"",  {0.66f, 0.69f, 0.29f}, {0.09f, 0.95f, 0.28f}, 1.00f, 1.00f, {246, 245, 247}, 3,
              1.6f};
      break;
    case 1:
      look = {"",  {0.50f, 0.78f, 0.38f}, {0.16f, 0.84f, 0.52f}, 1.25f, 1.30f, {240, 232, 222}, 10,
              3.2f};
      break;
    case 2:
      look = {"",  {0.76f, 0.60f, 0.25f}, {0.20f, 0.96f, 0.20f}, 0.80f, 0.75f, {228, 236, 246}, 6,
              2.2f};
      break;
    case 3:
      look = {"",  {0.60f, 0.74f, 0.30f}, {0.05f, 0.90f, 0.43f}, 1.40f, 0.85f, {250, 250, 242}, 1,
              4.0f};
      break;
    default: {
      const Draws draws(seed, 0);
      const auto a = draws.at(Purpose::scanner, scanner, 0),
                 b = draws.at(Purpose::scanner, scanner, 1),
                 c = draws.at(Purpose::scanner, scanner, 2);
      look.haematoxylin_od_rgb = {between(a.v[0], 0.5f, 0.76f), between(a.v[1], 0.6f, 0.78f),
                                  between(a.v[2], 0.24f, 0.4f)};
      look.eosin_od_rgb = {between(b.v[0], 0.05f, 0.2f), between(b.v[1], 0.84f, 0.97f),
                           between(b.v[2], 0.2f, 0.52f)};
      look.haematoxylin_strength = between(a.v[3], 0.8f, 1.4f);
      look.eosin_strength = between(b.v[3], 0.75f, 1.3f);
      look.white_rgb = {between(c.v[0], 226, 250), between(c.v[1], 226, 250),
                        between(c.v[2], 222, 250)};
      look.blur_64ths = static_cast<int>(c.v[3] % 11);
      look.noise_sd = between(c.v[3], 1.5f, 4.0f);
    }
  }
  look.name = fmt::format("scanner-{}", scanner + 1);
  look.haematoxylin_od_rgb = unit(look.haematoxylin_od_rgb);
  look.eosin_od_rgb = unit(look.eosin_od_rgb);
  return look;
}

}  // namespace headrace::phantom
