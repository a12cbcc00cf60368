#include "headrace/zarr/codec/bit_shuffle.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "headrace/device/cpu_isa.hpp"

namespace headrace::zarr {
namespace {

constexpr std::size_t kCounts[] = {8, 16, 24, 120, 128, 136, 256, 264, 1000, 8192};
constexpr std::byte kGuard{0xa5};

/// Calls `check` at each level that this CPU has.
template <typename Check>
void at_each_level(const Check& check) {
  const device::CpuIsa best = device::cpu_isa();
  for (const device::CpuIsa isa : device::compiled_isas()) {
    if (isa > best) break;
    device::force_cpu_isa(device::name_of(isa));
    SCOPED_TRACE(device::name_of(isa));
    check();
  }
  device::force_cpu_isa(device::name_of(best));
}

std::vector<std::byte> random_bytes(std::size_t size, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(generator());
  return bytes;
}

// The definition, bit by bit.
std::vector<std::byte> planes_of(const std::vector<std::byte>& elements) {
  const std::size_t count = elements.size() / 2;
  std::vector<std::byte> planes(elements.size());
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t bit = 0; bit < 16; ++bit) {
      const bool set = (std::to_integer<unsigned>(elements[2 * i + bit / 8]) >> bit % 8 & 1U) != 0;
      if (set) planes[bit * count / 8 + i / 8] |= static_cast<std::byte>(1U << i % 8);
    }
  }
  return planes;
}

TEST(BitShuffle, PutsEveryBitIntoItsPlane) {
  at_each_level([] {
    for (const std::size_t count : kCounts) {
      const auto elements = random_bytes(2 * count, static_cast<unsigned>(count));
      std::vector<std::byte> planes(2 * count);
      bit_shuffle16(elements.data(), count, planes.data());
      EXPECT_EQ(planes, planes_of(elements)) << count;
    }
  });
}

TEST(BitShuffle, AnyRangeComesBackAndNothingBesideIt) {
  at_each_level([] {
    for (const std::size_t count : kCounts) {
      const auto elements = random_bytes(2 * count, static_cast<unsigned>(count) + 1);
      const auto planes = planes_of(elements);
      const std::size_t step = count > 300 ? 248 : 8;
      for (std::size_t first = 0; first <= count; first += step) {
        for (std::size_t last = first; last <= count; last += step) {
          std::vector<std::byte> out(2 * count, kGuard), want(2 * count, kGuard);
          const auto at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(2 * i); };
          std::copy(elements.begin() + at(first), elements.begin() + at(last),
                    want.begin() + at(first));
          bit_unshuffle16(planes.data(), count, first, last, out.data() + 2 * first);
          ASSERT_EQ(out, want) << count << " elements, " << first << " to " << last;
        }
      }
    }
  });
}

}  // namespace
}  // namespace headrace::zarr
