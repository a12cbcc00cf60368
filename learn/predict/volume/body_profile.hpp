#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace headrace::predict {

/// Where the body lies in each slice of a volume. A few numbers a slice.
class BodyProfile {
 public:
  /// First and last slice, both included.
  struct Slices {
    std::int64_t first = 0, last = 0;
  };

  /// The next slice along z: (y, x), not 0 is body; empty where it is not known. `width`: of a row.
  void add(std::span<const std::uint8_t> body, std::int64_t width);

  /// Slices from the first to the last one with body; none without any.
  std::optional<Slices> slices() const;
  /// Mean index (y, x) of the body's voxels in a slice, that of the first voxel being 0; none
  /// where the slice has none.
  std::optional<std::array<double, 2>> centre_yx(std::int64_t z) const;

 private:
  struct Sums {
    std::uint64_t voxels = 0, y = 0, x = 0;
  };
  std::vector<Sums> slices_;
};

}  // namespace headrace::predict
