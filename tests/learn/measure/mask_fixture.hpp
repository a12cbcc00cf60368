#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "headrace/pixels/bit_volume.hpp"

namespace headrace::measure::fixtures {

using Shape = std::array<std::int64_t, 3>;

/// A mask of the voxels for which `set(z, y, x)` holds.
template <typename Set>
pixels::BitVolume mask_of(const Shape& shape, const Set& set) {
  pixels::BitVolume mask(shape);
  for (std::int64_t z = 0; z < shape[0]; ++z) {
    for (std::int64_t y = 0; y < shape[1]; ++y) {
      for (std::int64_t x = 0; x < shape[2]; ++x) {
        if (set(z, y, x)) mask.row(z, y)[x >> 6] |= std::uint64_t{1} << (x & 63);
      }
    }
  }
  return mask;
}

/// Numbers that look random and are the same everywhere.
class Lcg {
 public:
  explicit Lcg(std::uint64_t seed) : state_(seed * 2862933555777941757u + 3037000493u) {}
  std::uint32_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state_ >> 33);
  }
  double uniform() { return next() / 2147483648.0; }

 private:
  std::uint64_t state_;
};

}  // namespace headrace::measure::fixtures
