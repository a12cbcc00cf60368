#include "headrace/pixels/palette.hpp"

#include <gtest/gtest.h>

namespace headrace::pixels {
namespace {

TEST(ClassColour, NeighboursDifferAndBackgroundIsItsOwn) {
  for (std::size_t c = 0; c < 12; ++c) EXPECT_NE(class_colour(c), class_colour(c + 1));
  EXPECT_EQ(class_colour(1), class_colour(9));
  EXPECT_EQ(css({255, 0, 16}), "#ff0010");
}

}  // namespace
}  // namespace headrace::pixels
