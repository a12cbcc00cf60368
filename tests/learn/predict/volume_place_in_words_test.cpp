#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "learn/predict/volume/place_in_words.hpp"

namespace headrace::predict {
namespace {

using imaging::Vec3;
using imaging::VolumeGrid;

constexpr std::int64_t kDepth = 12, kHeight = 40, kWidth = 60;
constexpr std::array<double, 9> kUpright{1, 0, 0, 0, 1, 0, 0, 0, 1};
// Index (x, y, z) lies at (2x - 50, y + 100, 5z - 30) mm.
const VolumeGrid kGrid =
    VolumeGrid::of({kDepth, kHeight, kWidth}, {2, 1, 5}, {-50, 100, -30}, kUpright);

/// Body in slices 3 to 11: rows 5 … 24, columns 10 … 30; its middle is x 20, y 14.5.
BodyProfile body() {
  BodyProfile out;
  for (std::int64_t z = 0; z < kDepth; ++z) {
    std::vector<std::uint8_t> slice(kHeight * kWidth, 0);
    for (std::int64_t y = 5; y < 25 && z >= 3; ++y) {
      for (std::int64_t x = 10; x <= 30; ++x) slice[static_cast<std::size_t>(y * kWidth + x)] = 1;
    }
    out.add(slice, kWidth);
  }
  return out;
}

BodyProfile no_body() {
  BodyProfile out;
  for (std::int64_t z = 0; z < kDepth; ++z) out.add({}, kWidth);
  return out;
}

TEST(PlaceInWords, CountsFromTheMiddleOfTheBody) {
  const PlaceInBody place = place_in_body({37, 33.5, 10}, kGrid, body());
  EXPECT_EQ(place.third, Third::upper);
  EXPECT_EQ(place.slice, 10);
  EXPECT_DOUBLE_EQ(place.left_mm, 34);    // 17 columns of 2 mm
  EXPECT_DOUBLE_EQ(place.behind_mm, 19);  // 19 rows of 1 mm
  EXPECT_EQ(place.text(),
            "upper third of the scanned body, slice 11 of 12 from below, z = 20.0 mm; 34 mm left "
            "of the midline; posterior, 19 mm behind the body's centre");
}

TEST(PlaceInWords, NearIsUpToTenMillimetres) {
  const PlaceInBody near = place_in_body({25, 4.5, 6}, kGrid, body());
  EXPECT_EQ(near.text(),
            "middle third of the scanned body, slice 7 of 12 from below, z = 0.0 mm; near the "
            "midline; near the body's centre from front to back");
  const PlaceInBody right = place_in_body({14.4, 4.4, 6}, kGrid, body());
  EXPECT_EQ(right.text(),
            "middle third of the scanned body, slice 7 of 12 from below, z = 0.0 mm; 11 mm right "
            "of the midline; anterior, 10 mm in front of the body's centre");
}

TEST(PlaceInWords, ThirdsAreOfTheSlicesWithBody) {
  // Slices 3 to 11: 3 to 5 are the lower third. Of all 12 slices they would be partly the middle.
  const auto third = [](double z, const BodyProfile& of) {
    return place_in_body({20, 14, z}, kGrid, of).third;
  };
  EXPECT_EQ(third(5, body()), Third::lower);
  EXPECT_EQ(third(6, body()), Third::middle);
  EXPECT_EQ(third(8, body()), Third::middle);
  EXPECT_EQ(third(9, body()), Third::upper);
  EXPECT_EQ(third(5, no_body()), Third::middle);
}

TEST(PlaceInWords, WithoutBodyTheImageTakesItsPlaceAndTheWordsSaySo) {
  // The image's middle is x 29.5, y 19.5.
  const PlaceInBody place = place_in_body({39.5, 19.5, 0}, kGrid, no_body());
  EXPECT_EQ(place.text(),
            "lower third of the scan, slice 1 of 12 from below, z = -30.0 mm; 20 mm left of the "
            "image's centre; near the image's centre from front to back");
  EXPECT_EQ(place.to_json().at("middle_of"), "image");
  // Below the body: its thirds are known, but no middle in this slice.
  const PlaceInBody below = place_in_body({39.5, 19.5, 1}, kGrid, body());
  EXPECT_TRUE(below.third_of_body);
  EXPECT_FALSE(below.middle_of_body);
}

TEST(PlaceInWords, DistancesAreAlongThePatientsAxesOnATurnedGrid) {
  // Turned by 30 degrees about z: 40 mm along the grid's x are 34.6 mm to the left and 20 to the
  // back.
  const double c = std::sqrt(0.75), s = 0.5;
  const VolumeGrid turned =
      VolumeGrid::of({kDepth, kHeight, kWidth}, {2, 1, 5}, {0, 0, 0}, {c, -s, 0, s, c, 0, 0, 0, 1});
  const PlaceInBody place = place_in_body({40, 14.5, 6}, turned, body());
  EXPECT_NEAR(place.left_mm, 40 * c, 1e-9);
  EXPECT_NEAR(place.behind_mm, 20, 1e-9);
}

}  // namespace
}  // namespace headrace::predict
