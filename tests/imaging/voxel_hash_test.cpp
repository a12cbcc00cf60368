// What identifies a volume follows from its voxels and their places, not from the file's order.
#include "headrace/imaging/volume/voxel_hash.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <vector>

#include "headrace/core/sha256.hpp"
#include "tests/imaging/axis_orders.hpp"

namespace headrace::imaging {
namespace {

VolumeGrid body() {
  return VolumeGrid::of({4, 5, 7}, {0.7, 0.9, 2.5}, {-11.3, 20.9, 301.7},
                        {1, 0, 0, 0, 1, 0, 0, 0, 1});
}

/// HU of a voxel of body(), by its index.
std::int16_t hu_at(double x, double y, double z) {
  return static_cast<std::int16_t>(std::lround(x + 10 * y + 100 * z) - 1024);
}

/// A file of the body in some order.
class Reordered : public VolumeReader {
 public:
  explicit Reordered(const AxisMap& order) { info_.grid = reordered(body(), order); }
  void read_slice(std::int64_t z, double* dst) const override {
    const auto [depth, height, width] = info_.grid.shape_zyx;
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        const Vec3 at = body().to_index(info_.grid.to_lps_mm(
            static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)));
        *dst++ = hu_at(at[0], at[1], at[2]) + changed;
      }
    }
  }
  double changed = 0;
};

TEST(VoxelHash, IsThatOfTheCanonicalVoxelsInEveryOrder) {
  std::vector<std::int16_t> voxels;
  for (int z = 0; z < 4; ++z) {
    for (int y = 0; y < 5; ++y)
      for (int x = 0; x < 7; ++x) voxels.push_back(hu_at(x, y, z));
  }
  const std::string expected = sha256_hex(std::as_bytes(std::span(voxels)));
  for (const AxisMap& order : all_orders()) {
    Reordered file(order);
    const AxisMap from_file = canonical_grid(file.info().grid).from_file;
    EXPECT_EQ(voxel_hash(file, from_file), expected);
    file.changed = 1;
    EXPECT_NE(voxel_hash(file, from_file), expected);
  }
}

}  // namespace
}  // namespace headrace::imaging
