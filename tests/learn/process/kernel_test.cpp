// Each kernel against its formula in double, written anew.
#include <gtest/gtest.h>

#include <cmath>

#include "learn/process/pixel_math.hpp"
#include "learn/process/process.hpp"
#include "learn/process/tile_runner.hpp"
#include "tests/learn/process/generated_image.hpp"

namespace headrace::process {
namespace {

std::int64_t mirror(std::int64_t i, std::int64_t n) {
  while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
  return i;
}

/// The operation on the whole image in one tile, as floats, channel by channel.
std::vector<float> run(const GeneratedImage& image, const Operation& operation) {
  const ImageInfo& f = image.info();
  std::vector<float> out(static_cast<std::size_t>(f.height * f.width * operation.channels()));
  const SourceView view{image.at(0, 0), f.width * f.channels, f.height, 0, 0, f.height, f.width,
                        f.channels};
  run_tiles(
      operation, view, {0, 0, f.height, f.width}, f.height, f.width,
      {reinterpret_cast<std::uint8_t*>(out.data()), 0, 0, 4 * f.height * f.width, 4 * f.width, 4});
  return out;
}

OperationRequest floats(OperationName name) {
  OperationRequest request;
  request.name = name;
  request.output = OutputType::float32;
  return request;
}

double grey(const GeneratedImage& image, std::int64_t y, std::int64_t x) {
  const ImageInfo& f = image.info();
  const std::uint8_t* p = image.at(mirror(y, f.height), mirror(x, f.width));
  if (f.channels == 1) return p[0] / 255.0;
  return (0.2125 * p[0] + 0.7154 * p[1] + 0.0721 * p[2]) / 255.0;
}

double sobel_at(const GeneratedImage& image, std::int64_t y, std::int64_t x) {
  double gy = 0, gx = 0;
  for (int i = -1; i <= 1; ++i) {
    const double smooth = i == 0 ? 0.5 : 0.25;
    gy += smooth * (grey(image, y + 1, x + i) - grey(image, y - 1, x + i));
    gx += smooth * (grey(image, y + i, x + 1) - grey(image, y + i, x - 1));
  }
  return std::sqrt((gy * gy + gx * gx) / 2);
}

TEST(Process, SobelMatchesDouble) {
  for (const auto& [height, width] : {std::pair{61, 83}, {1, 40}, {40, 1}, {2, 3}, {1, 1}}) {
    for (const int channels : {1, 3}) {
      const GeneratedImage image(height, width, channels);
      const Operation operation(floats(OperationName::sobel), channels);
      const auto found = run(image, operation);
      for (std::int64_t y = 0; y < height; ++y) {
        for (std::int64_t x = 0; x < width; ++x) {
          ASSERT_NEAR(found[static_cast<std::size_t>(y * width + x)], sobel_at(image, y, x), 6e-7)
              << height << "x" << width << " at " << y << "," << x;
        }
      }
    }
  }
}

TEST(Process, SobelOfAnEvenImageIsZero) {
  GeneratedImage image(20, 30);
  std::fill_n(const_cast<std::uint8_t*>(image.at(0, 0)), 20 * 30 * 3, std::uint8_t{173});
  for (const float v : run(image, Operation(floats(OperationName::sobel), 3))) ASSERT_EQ(v, 0.0f);
}

double gaussian_at(const GeneratedImage& image, std::int64_t y, std::int64_t x, int channel,
                   double sigma) {
  const ImageInfo& f = image.info();
  const int radius = static_cast<int>(4 * sigma + 0.5);
  double sum = 0, weights = 0;
  for (int i = -radius; i <= radius; ++i) {
    for (int j = -radius; j <= radius; ++j) {
      const double w = std::exp(-0.5 * (i * i + j * j) / (sigma * sigma));
      weights += w;
      sum += w * image.at(mirror(y + i, f.height), mirror(x + j, f.width))[channel] / 255.0;
    }
  }
  return sum / weights;
}

TEST(Process, GaussianMatchesDouble) {
  for (const double sigma : {0.4, 1.0, 3.7}) {
    const GeneratedImage image(33, 21);  // at 3.7 the halo is wider than half of the image
    OperationRequest request = floats(OperationName::gaussian);
    request.sigma_px = sigma;
    const auto found = run(image, Operation(request, 3));
    for (int c = 0; c < 3; ++c) {
      for (std::int64_t y = 0; y < 33; ++y) {
        for (std::int64_t x = 0; x < 21; ++x) {
          ASSERT_NEAR(found[static_cast<std::size_t>((c * 33 + y) * 21 + x)],
                      gaussian_at(image, y, x, c, sigma), 1e-6)
              << sigma << " at " << y << "," << x;
        }
      }
    }
  }
}

TEST(Process, GaussianSumsAddFromTheNearestOutwards) {
  float values[17], weights[9];
  for (int i = 0; i < 17; ++i) values[i] = std::sin(static_cast<float>(7 * i)) * 1000.0f;
  for (int n = 0; n < 9; ++n) weights[n] = std::exp(-0.1f * static_cast<float>(n * n));
  for (int radius = 0; radius <= 8; ++radius) {
    float expected = values[8] * weights[0];
    for (int n = 1; n <= radius; ++n) expected += (values[8 - n] + values[8 + n]) * weights[n];
    const float* centre = values + 8;
    EXPECT_EQ(gaussian_sum(weights, radius, [&](int n) { return centre[n]; }), expected) << radius;
  }
}

TEST(Process, StainAmountsAreRuifroks) {
  // Inverse of the rows H, E and DAB, by numpy.linalg.inv; first two columns.
  const double inverse[3][2] = {
      {1.877982737, -1.007678686}, {-0.065908062, 1.134730372}, {-0.601907363, -0.480414188}};
  const GeneratedImage image(24, 50);
  const auto found = run(image, Operation(floats(OperationName::stain_separate), 3));
  for (std::int64_t i = 0; i < 24 * 50; ++i) {
    for (int stain = 0; stain < 2; ++stain) {
      double amount = 0;
      for (int c = 0; c < 3; ++c) {
        const double od = -std::log10((image.at(0, 0)[i * 3 + c] + 1) / 256.0);
        amount += od * inverse[c][stain];
      }
      ASSERT_NEAR(found[static_cast<std::size_t>(stain * 24 * 50 + i)], amount, 1e-5) << i;
    }
  }
}

TEST(Process, IntegersAreRoundedAndLimited) {
  const GeneratedImage image(30, 40);
  const Operation wide(floats(OperationName::gaussian), 3);
  const auto exact = run(image, wide);
  OperationRequest request;
  request.name = OperationName::gaussian;
  const Operation narrow(request, 3);
  ASSERT_EQ(narrow.output(), OutputType::uint8);
  std::vector<std::uint8_t> bytes(30 * 40 * 3);
  const SourceView view{image.at(0, 0), 120, 30, 0, 0, 30, 40, 3};
  run_tiles(narrow, view, {0, 0, 30, 40}, 30, 40, {bytes.data(), 0, 0, 1200, 40, 1});
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    ASSERT_EQ(bytes[i], static_cast<int>(exact[i] * 255.0f + 0.5f)) << i;
  }
}

TEST(Process, WrongRequestsAreNamed) {
  OperationRequest request;
  request.name = OperationName::gaussian;
  request.sigma_px = 33;
  EXPECT_THROW(Operation(request, 3), Error);
  request = {};
  request.name = OperationName::normalize;
  EXPECT_THROW(Operation(request, 1), Error);
  request.name = OperationName::tissue_mask;
  request.output = OutputType::float32;
  EXPECT_THROW(Operation(request, 3), Error);
}

}  // namespace
}  // namespace headrace::process
