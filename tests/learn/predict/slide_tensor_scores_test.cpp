#include "learn/predict/slide/tensor_scores.hpp"

#include "tests/learn/model/watched_operations.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/learn/inference/tiles_there.hpp"
#include "tests/learn/model/operations_on_meta.hpp"

namespace headrace::predict {
namespace {

/// Parts (parts, classes, pixels): random ones, and by and by every edge of a rounding.
std::vector<float> values_of(std::size_t size, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> real(-0.1f, 1.1f);
  std::vector<float> out(size);
  for (std::size_t i = 0; i < size; ++i) {
    const auto step = static_cast<float>(i % 256);
    const float edge = (step + 0.5f) / 255.0f;
    switch (i % 7) {
      case 0:
        out[i] = edge;
        break;
      case 1:
        out[i] = std::nextafter(edge, 0.0f);
        break;
      case 2:
        out[i] = std::nextafter(edge, 2.0f);
        break;
      case 3:
        out[i] = i % 2 == 0 ? 0.0f : 1.0f;
        break;
      default:
        out[i] = real(random);
    }
  }
  out.front() = std::numeric_limits<float>::quiet_NaN();
  out.back() = -0.0f;
  return out;
}

TEST(TensorScores, AreThePixelScoresOfEveryPart) {
  for (const std::size_t classes : {1u, 2u, 3u, 7u}) {
    constexpr std::size_t kParts = 3, kPixels = 2053;
    const std::size_t size = classes * kPixels;
    const auto values = values_of(kParts * size, static_cast<std::uint32_t>(classes));
    const at::Tensor tensor = fixtures::tensor_there<float>(values).view(
        {static_cast<std::int64_t>(kParts), static_cast<std::int64_t>(classes),
         static_cast<std::int64_t>(kPixels)});
    TensorScores scores(classes);
    const at::Tensor found = scores.of(tensor).to(at::kCPU);
    ASSERT_EQ(found.scalar_type(), at::kByte);
    ASSERT_EQ(found.numel(), static_cast<std::int64_t>(kParts * (classes + 1) * kPixels));
    const std::uint8_t* bytes = found.const_data_ptr<std::uint8_t>();
    const PixelScores host(classes);
    for (std::size_t k = 0; k < kParts; ++k) {
      std::vector<std::uint8_t> wanted((classes + 1) * kPixels);
      host.of({values.data() + k * size, size}, wanted);
      const std::uint8_t* own = bytes + k * wanted.size();
      EXPECT_EQ(std::vector<std::uint8_t>(own, own + wanted.size()), wanted) << classes;
    }
  }
}

/// On a device without memory, of which a copy to the host would be an error.
TEST(TensorScores, CopyTheirTableOnce) {
  const model::fixtures::OperationsOnMeta operations;
  TensorScores scores(3);
  const model::fixtures::WatchedOperations watch;
  for (int call = 0; call < 3; ++call) {
    EXPECT_EQ(scores.of(model::fixtures::on_meta({2, 3, 50})).sizes(),
              (std::vector<std::int64_t>{2, 4, 50}));
    EXPECT_EQ(watch.copies_from_host(), 1);
  }
  EXPECT_EQ(watch.waits_for_copies() + watch.host_reads(), 0);
}

}  // namespace
}  // namespace headrace::predict
