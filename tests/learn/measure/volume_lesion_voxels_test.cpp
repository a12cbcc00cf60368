#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "learn/measure/volume/lesion_calls.hpp"

namespace headrace::measure {
namespace {

using Shape = std::array<std::int64_t, 3>;

/// Sparse random scores: calls of several voxels, with ties and spikes of one voxel.
std::vector<std::uint16_t> random_scores(std::uint32_t seed, const Shape& shape) {
  std::mt19937 random(seed);
  std::vector<std::uint16_t> out(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
  for (auto& value : out)
    value = random() % 10 < 8 ? 0 : static_cast<std::uint16_t>(1000 * (1 + random() % 60));
  return out;
}

TEST(LesionVoxels, AreThoseOfTheSameCalls) {
  const Shape shape{5, 9, 70};
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    const auto scores = random_scores(seed, shape);
    const auto calls = find_calls(scores, shape, 9000, 3, {});
    const auto located = find_calls_with_voxels(scores, shape, 9000, 3);
    ASSERT_EQ(located.size(), calls.size());
    ASSERT_GT(calls.size(), 3u);
    std::vector<bool> taken(scores.size(), false);
    for (std::size_t k = 0; k < calls.size(); ++k) {
      EXPECT_EQ(located[k].region.score, calls[k].score);
      EXPECT_EQ(located[k].region.doubled_zyx, calls[k].doubled_zyx);
      std::uint64_t voxels = 0;
      std::uint16_t highest = 0;
      for (const pixels::Run& run : located[k].runs) {
        EXPECT_EQ(run.component, k);
        for (std::int64_t x = run.x0; x < run.x1; ++x) {
          const auto i = static_cast<std::size_t>((run.z * shape[1] + run.y) * shape[2] + x);
          EXPECT_GE(5 * scores[i], 2 * calls[k].score);
          EXPECT_FALSE(taken[i]);
          taken[i] = true;
          highest = std::max(highest, scores[i]);
          ++voxels;
        }
      }
      EXPECT_EQ(voxels, calls[k].voxels);
      EXPECT_EQ(highest, calls[k].score);
    }
  }
}

TEST(LesionVoxels, RunsAreInOrderAndEndWhereTheCallEnds) {
  const Shape shape{2, 2, 6};
  std::vector<std::uint16_t> scores(24, 0);
  for (const std::size_t i : {1, 2, 8, 9, 10, 13}) scores[i] = 50000;  // one part, 26 neighbours
  const auto located = find_calls_with_voxels(scores, shape, 1, 1);
  ASSERT_EQ(located.size(), 1u);
  const auto& runs = located[0].runs;
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ((std::array{runs[0].z, runs[0].y, runs[0].x0, runs[0].x1}), (std::array{0, 0, 1, 3}));
  EXPECT_EQ((std::array{runs[1].z, runs[1].y, runs[1].x0, runs[1].x1}), (std::array{0, 1, 2, 5}));
  EXPECT_EQ((std::array{runs[2].z, runs[2].y, runs[2].x0, runs[2].x1}), (std::array{1, 0, 1, 2}));
}

TEST(LesionVoxels, TheLeastVolumeIsReachedByExactlyIt) {
  EXPECT_EQ(least_call_voxels(0, 0.5), 1u);
  EXPECT_EQ(least_call_voxels(50, 0.5), 100u);
  EXPECT_EQ(least_call_voxels(50.1, 0.5), 101u);
  EXPECT_EQ(least_call_voxels(1.1, 0.1), 11u);  // 1.1 / 0.1 is a little above 11
}

}  // namespace
}  // namespace headrace::measure
