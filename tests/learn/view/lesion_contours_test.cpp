#include "learn/view/volume/lesion_contours.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

namespace headrace::view {
namespace {

constexpr std::int64_t kWidth = 7, kHeight = 6;

/// Two slices; on the second, lesion 2 is a ring with a hole and a part that touches it in a
/// corner, and lesion 1 lies in the hole.
const std::vector<std::uint8_t> kVoxels = [] {
  std::vector<std::uint8_t> voxels(kWidth * kHeight, 0);
  const std::vector<std::uint8_t> slice{0, 0, 0, 0, 0, 0, 0,  //
                                        0, 2, 2, 2, 0, 0, 0,  //
                                        0, 2, 1, 2, 0, 0, 0,  //
                                        0, 2, 2, 2, 0, 0, 0,  //
                                        0, 0, 0, 0, 2, 2, 0,  //
                                        0, 0, 0, 0, 0, 0, 2};
  voxels.insert(voxels.end(), slice.begin(), slice.end());
  return voxels;
}();

class Lesions : public VoxelSource {
 public:
  Lesions() { scales_.push_back({{2, kHeight, kWidth}, {1, 1, 1}}); }
  void read(std::size_t, const std::array<std::int64_t, 3>& origin_zyx,
            const std::array<std::int64_t, 3>&, std::byte* dst) const override {
    std::memcpy(dst, kVoxels.data() + origin_zyx[0] * kHeight * kWidth, kHeight * kWidth);
  }
};

TEST(LesionContours, FilledTheyAreTheLesion) {
  for (const std::uint8_t number : {1, 2}) {
    const auto rings = lesion_contours(Lesions(), number, 1);
    EXPECT_EQ(rings.size(), number == 1 ? 1U : 4U);
    pixels::PolygonRaster raster;
    raster.add(rings, number);
    std::vector<std::uint8_t> filled(kWidth * kHeight, 0);
    raster.paint(0, 0, kHeight, kWidth, filled.data(), kWidth);
    for (std::size_t i = 0; i < filled.size(); ++i)
      EXPECT_EQ(filled[i] == number, kVoxels[i + filled.size()] == number) << i;
  }
}

TEST(LesionContours, AreEmptyOnOtherSlices) {
  EXPECT_TRUE(lesion_contours(Lesions(), 2, 0).empty());
  EXPECT_TRUE(lesion_contours(Lesions(), 3, 1).empty());
}

}  // namespace
}  // namespace headrace::view
