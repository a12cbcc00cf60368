// Geometry and neighbourhoods against scikit-image and scipy.
#include <gtest/gtest.h>

#include <cmath>

#include "golden.hpp"
#include "headrace/transform/slide/patch_pixel.hpp"
#include "headrace/transform/slide/place_patch.hpp"
#include "headrace/transform/slide/slide_spec.hpp"
#include "tissue.hpp"

namespace headrace::transform {
namespace {

using fixtures::golden;

/// Float32 positions in a window of some 40 px err by 1e-5 px, times at most 255 a pixel.
TEST(Golden, AffineIsScikitImagesWarp) {
  const Json& g = golden()["affine"];
  const auto picture = fixtures::tissue_picture("stain_target.png");
  const double rotate = g["rotate_deg"], scale = g["scale"], shear = g["shear_deg"];
  const Graph graph =
      Graph::compile({AffineSpec{{rotate, rotate}, {scale, scale}, {shear, shear}, 0, false}},
                     {g["height"], g["width"], 0.5, {1}});
  const auto params = graph.draw({1, 1, 1}, {}, true);
  PatchGeometry geometry;
  graph.locate(*params, 1, g["centre_yx"], {0.5, 0.5}, geometry);
  const auto window =
      fixtures::cut(picture.rgb, picture.height, picture.width, 3, geometry.window, 0);
  const auto expected = g["out"].get<std::vector<double>>();
  std::vector<float> out(expected.size());
  Scratch scratch;
  graph.image(*params, geometry, window.view, window.extent, out.data(), scratch);
  const std::size_t pixels = out.size() / 3;
  for (std::size_t i = 0; i < pixels; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      ASSERT_NEAR(255 * out[c * pixels + i], expected[i * 3 + c], 0.01) << i;
    }
  }
}

TEST(Golden, ElasticIsScipysTensorSpline) {
  const Json& g = golden()["spline"];
  const PatchSpec patch{g["height"], g["width"], 0.5, {1}};
  SampleParams params;
  params.elastic = {g["grid"], g["control_y"], g["control_x"]};
  for (auto* control : {&params.elastic.y_um, &params.elastic.x_um}) {
    for (double& v : *control) v *= patch.mpp;  // the golden's are pixels
  }
  PatchGeometry geometry;
  const Graph graph = Graph::compile({}, patch);
  graph.locate(params, 1, {100, 100}, {0.5, 0.5}, geometry);
  std::vector<std::uint8_t> pixels(
      std::size_t(geometry.window.height * geometry.window.width * 3 + 4));
  const ImageView view{pixels.data(), std::int32_t(geometry.window.height),
                       std::int32_t(geometry.window.width), geometry.window.width * 3};
  ControlPixels controls;
  const PatchKernel kernel = patch_kernel(params, patch, geometry, view, {}, nullptr, controls);
  const auto dy = g["y"].get<std::vector<double>>(), dx = g["x"].get<std::vector<double>>();
  std::size_t i = 0;
  for (int row = 0; row < patch.height; row += 3) {
    for (int column = 0; column < patch.width; column += 3, ++i) {
      const TapCoordinates at = taps_of(kernel.placement, row, column);
      const double y = at.y + 0.5 + double(geometry.window.y0),
                   x = at.x + 0.5 + double(geometry.window.x0);
      ASSERT_NEAR(y, 100 - patch.height / 2.0 + row + 0.5 + dy[i], 2e-5) << row << " " << column;
      ASSERT_NEAR(x, 100 - patch.width / 2.0 + column + 0.5 + dx[i], 2e-5) << row << " " << column;
    }
  }
  EXPECT_EQ(i, dy.size());
}

TEST(Golden, BlurIsScipysGaussianFilter) {
  const Json& g = golden()["blur"];
  const auto crop = g["crop_yxhw"].get<std::vector<std::int64_t>>();
  const auto picture = fixtures::tissue_picture("stain_target.png");
  const double sigma = g["sigma"];
  const Graph graph =
      Graph::compile({BlurSpec{{sigma, sigma}, 1}}, {int(crop[2]), int(crop[3]), 0.5, {1}});
  const auto params = graph.draw({1, 1, 1}, {}, true);
  PatchGeometry geometry;
  graph.locate(*params, 1,
               {double(crop[0]) + double(crop[2]) / 2, double(crop[1]) + double(crop[3]) / 2},
               {0.5, 0.5}, geometry);
  const auto window =
      fixtures::cut(picture.rgb, picture.height, picture.width, 3, geometry.window, 0);
  const auto expected = g["out"].get<std::vector<double>>();
  std::vector<float> out(expected.size());
  Scratch scratch;
  graph.image(*params, geometry, window.view, window.extent, out.data(), scratch);
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(255 * out[i], expected[i], 1e-3) << i;
}

}  // namespace
}  // namespace headrace::transform
