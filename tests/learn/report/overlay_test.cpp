#include "learn/report/overlay.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "headrace/pixels/palette.hpp"

namespace headrace::report {
namespace {

TEST(Overlay, BackgroundStaysBordersAreDrawnInsidesAreTinted) {
  pixels::Image8 image(5, 5, 3);
  for (auto& value : image.pixels) value = 100;
  std::vector<std::uint8_t> labels(25, 0);
  for (int y = 1; y < 4; ++y) {
    for (int x = 1; x < 4; ++x) labels[static_cast<std::size_t>(y * 5 + x)] = 2;
  }
  labels[24] = 255;
  const pixels::Image8 out = overlay(image, labels);
  const pixels::Rgb colour = pixels::class_colour(2);
  EXPECT_EQ(out.row(0)[0], 100);
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_EQ(out.row(1)[3 + c], colour[c]);                          // border
    EXPECT_EQ(out.row(2)[6 + c], (100 * 68 + colour[c] * 32) / 100);  // middle
  }
  EXPECT_EQ(out.row(4)[12], (100 * 40 + 210 * 60) / 100);  // not annotated
}

}  // namespace
}  // namespace headrace::report
