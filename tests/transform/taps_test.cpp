// Sums over taps for every number of taps: in the stated order, in packs and one value at a time.
#include "headrace/transform/taps.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "headrace/transform/volume/voxel_kernel.hpp"

namespace headrace::transform {
namespace {

using math::v8f;
using math::v8s;

std::vector<float> random_floats(std::size_t count) {
  std::mt19937 random(7);
  std::vector<float> out(count);
  for (float& v : out) v = static_cast<float>(random() % 200001) * 0.013f - 1300.0f;
  return out;
}

TEST(Taps, WeightedSumsAddTapAfterTap) {
  const auto values = random_floats(40), weights = random_floats(24);
  for (std::int32_t taps = 1; taps <= 24; ++taps) {
    const v8f packs = weighted_sum<v8f>(weights.data(), taps, [&](std::int32_t tap) {
      return math::Memory<v8f>::load(values.data() + tap);
    });
    for (std::int32_t lane = 0; lane < 8; ++lane) {
      float expected = 0;
      for (std::int32_t tap = 0; tap < taps; ++tap) {
        expected +=
            values[static_cast<std::size_t>(lane + tap)] * weights[static_cast<std::size_t>(tap)];
      }
      const float one = weighted_sum<float>(weights.data(), taps, [&](std::int32_t tap) {
        return values[static_cast<std::size_t>(lane + tap)];
      });
      EXPECT_EQ(one, expected) << taps << " taps, lane " << lane;
      EXPECT_EQ(packs[lane], expected) << taps << " taps, lane " << lane;
    }
  }
}

TEST(Taps, BlurredLinesAreMirroredAboutTheirEnds) {
  const auto values = random_floats(30);
  VolumeBlurKernel k{};
  k.radius = 6;
  const auto weights = random_floats(13);
  std::copy(weights.begin(), weights.end(), k.weights);
  for (const std::int32_t count : {1, 2, 5, 10}) {
    for (std::int32_t place = 0; place < count; ++place) {
      float expected = 0;
      for (std::int32_t tap = 0; tap < 13; ++tap) {
        std::int32_t i = place + tap - 6;
        while (count > 1 && (i < 0 || i >= count)) i = i < 0 ? -i : 2 * (count - 1) - i;
        expected += values[static_cast<std::size_t>(count > 1 ? 3 * i : 0)] * k.weights[tap];
      }
      EXPECT_EQ(blurred(k, values.data(), 3, count, place), expected) << place << " of " << count;
    }
  }
}

TEST(Taps, SmoothedVoxelsAreRoundedSums) {
  std::mt19937 random(3);
  std::int16_t values[48];
  for (std::int16_t& v : values) v = static_cast<std::int16_t>(random());
  values[20] = 32767;
  values[21] = -32768;
  for (std::int32_t radius = 0; radius <= 9; ++radius) {
    SmoothKernel k{};
    k.radius = radius;
    const std::int32_t taps = 2 * radius + 1;
    for (std::int32_t tap = 0; tap < taps; ++tap) {
      k.weights[tap] = static_cast<std::int16_t>(32767 / taps - tap % 2);
    }
    const v8s packs = smoothed<v8s>(
        k, [&](std::int32_t tap) { return math::Memory<math::v8f>::load_shorts(values + tap, 8); });
    for (std::int32_t lane = 0; lane < 8; ++lane) {
      std::int64_t sum = 16384;
      for (std::int32_t tap = 0; tap < taps; ++tap) sum += values[lane + tap] * k.weights[tap];
      const auto one =
          smoothed<std::int16_t>(k, [&](std::int32_t tap) { return values[lane + tap]; });
      EXPECT_EQ(one, sum >> 15) << "radius " << radius << ", lane " << lane;
      EXPECT_EQ(packs[lane], sum >> 15) << "radius " << radius << ", lane " << lane;
    }
  }
}

}  // namespace
}  // namespace headrace::transform
