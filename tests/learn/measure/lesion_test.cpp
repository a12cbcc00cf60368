#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "headrace/core/error.hpp"
#include "learn/measure/base/bootstrap.hpp"
#include "learn/measure/volume/froc.hpp"
#include "learn/measure/volume/lesion_calls.hpp"
#include "learn/measure/volume/lesion_match.hpp"
#include "learn/measure/volume/volume_figures.hpp"
#include "tests/learn/measure/mask_fixture.hpp"

namespace headrace::measure {
namespace {

using fixtures::Lcg;
using fixtures::mask_of;
using fixtures::Shape;
using pixels::Components;
using pixels::find_components;
using pixels::Neighbours;

constexpr Shape kShape{4, 6, 40};

/// Bars along x: [from, to) of row y in slice 1.
struct Bar {
  std::int64_t y, from, to;
};
pixels::Components bars(const std::vector<Bar>& all) {
  return pixels::find_components(mask_of(kShape,
                                         [&](auto z, auto y, auto x) {
                                           return z == 1 &&
                                                  std::any_of(all.begin(), all.end(), [&](Bar b) {
                                                    return b.y == y && x >= b.from && x < b.to;
                                                  });
                                         }),
                                 pixels::Neighbours::everything);
}

/// Calls as find_calls gives them, of components with these scores (falling).
std::vector<CallRegion> regions(const pixels::Components& calls, const pixels::Components& lesions,
                                const std::vector<std::uint16_t>& scores) {
  std::vector<CallRegion> out(calls.sizes.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    out[k].score = scores[k];
    out[k].voxels = calls.sizes[k];
  }
  for (const auto& call : calls.runs) {
    for (const auto& lesion : lesions.runs) {
      if (call.z != lesion.z || call.y != lesion.y) continue;
      const auto shared = std::min(call.x1, lesion.x1) - std::max(call.x0, lesion.x0);
      if (shared > 0)
        out[call.component].shared[lesion.component] += static_cast<std::uint64_t>(shared);
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const CallRegion& p, const CallRegion& q) { return p.score > q.score; });
  return out;
}

TEST(MatchLesions, TheBestScoreChoosesFirstAndALesionIsHitOnce) {
  const pixels::Components lesions = bars({{0, 0, 10}, {4, 0, 10}});
  // Two calls on the first lesion, one beside everything, one that only grazes the second.
  const pixels::Components calls = bars({{0, 0, 4}, {0, 6, 10}, {2, 20, 30}, {4, 9, 20}});
  const auto matched =
      match_lesions(lesions.sizes, regions(calls, lesions, {600, 900, 700, 800}), 0.1);
  ASSERT_EQ(matched.size(), 4u);
  EXPECT_EQ(matched[0].lesion, 0);  // of score 900
  EXPECT_DOUBLE_EQ(matched[0].overlap, 4.0 / 10);
  EXPECT_EQ(matched[1].lesion, -1);  // of 800: 1 of 20 voxels, below 0.1
  EXPECT_EQ(matched[2].lesion, -1);
  EXPECT_EQ(matched[3].lesion, -1);  // of 600: the lesion is taken
}

TEST(MatchLesions, ACallOverTwoLesionsTakesTheOneItOverlapsMore) {
  const pixels::Components lesions = bars({{0, 0, 4}, {0, 6, 16}});
  const auto matched = match_lesions(lesions.sizes, regions(bars({{0, 0, 16}}), lesions, {1}), 0.1);
  EXPECT_EQ(matched[0].lesion, 1);
  EXPECT_DOUBLE_EQ(matched[0].overlap, 10.0 / 16);
}

/// A volume of random scores: calls of several voxels, with ties.
std::vector<std::uint16_t> random_scores(std::uint64_t seed, const Shape& shape) {
  Lcg random(seed);
  std::vector<std::uint16_t> out(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
  for (auto& value : out) {
    const double u = random.uniform();
    value = u < 0.9 ? 0 : static_cast<std::uint16_t>(1000 * (1 + random.next() % 60));
  }
  return out;
}

TEST(FindCalls, AreThePartsWhoseHighestScoreTheirThresholdSuits) {
  const Shape shape{5, 9, 70};
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const auto scores = random_scores(seed, shape);
    const auto score_at = [&](auto z, auto y, auto x) {
      return scores[static_cast<std::size_t>((z * shape[1] + y) * shape[2] + x)];
    };
    // By the definition: for each score s the components at 0.4·s whose highest score is s.
    std::multiset<std::array<std::uint64_t, 2>> expected;
    for (std::uint32_t s = 60000; s >= 20000; s -= 1000) {
      const pixels::Components parts = pixels::find_components(
          mask_of(shape, [&](auto z, auto y, auto x) { return 5 * score_at(z, y, x) >= 2 * s; }),
          pixels::Neighbours::everything);
      std::vector<std::uint16_t> best(parts.sizes.size(), 0);
      for (const auto& run : parts.runs) {
        for (std::int32_t x = run.x0; x < run.x1; ++x)
          best[run.component] = std::max(best[run.component], score_at(run.z, run.y, x));
      }
      for (std::size_t k = 0; k < best.size(); ++k) {
        if (best[k] == s) expected.insert({s, parts.sizes[k]});
      }
    }
    std::multiset<std::array<std::uint64_t, 2>> found;
    const auto calls = find_calls(scores, shape, 20000, 1, {});
    for (const CallRegion& call : calls) found.insert({call.score, call.voxels});
    EXPECT_EQ(found, expected) << "seed " << seed;
    EXPECT_TRUE(std::is_sorted(calls.begin(), calls.end(),
                               [](const auto& p, const auto& q) { return p.score > q.score; }));
  }
}

TEST(FindCalls, ALowerLimitAddsCallsAndChangesNone) {
  const Shape shape{6, 12, 30};
  const auto scores = random_scores(4, shape);
  const auto few = find_calls(scores, shape, 40000, 1, {}),
             many = find_calls(scores, shape, 1, 1, {});
  ASSERT_GT(many.size(), few.size());
  for (std::size_t k = 0; k < few.size(); ++k) {
    EXPECT_EQ(few[k].score, many[k].score);
    EXPECT_EQ(few[k].doubled_zyx, many[k].doubled_zyx);
  }
}

TEST(FindCalls, AShoulderIsNoCallAndADistantLowerPeakIs) {
  // Along x: a peak of 60000 with a shoulder, a valley below 0.4 of the second peak, that peak.
  std::vector<std::uint16_t> row{0,     30000, 60000, 28000, 30000, 20000, 8000,
                                 30000, 29000, 11000, 0,     9000,  0};
  const Shape shape{1, 1, 13};
  const pixels::Components lesions =
      pixels::find_components(mask_of(shape, [](auto, auto, auto x) { return x >= 7 && x <= 9; }),
                              pixels::Neighbours::everything);
  const auto calls = find_calls(row, shape, 5000, 1, lesions);
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].voxels, 4u);  // from 24000 on: x 1 to 4
  EXPECT_EQ(calls[0].doubled_zyx[2], 3 + 5 + 7 + 9);
  EXPECT_TRUE(calls[0].shared.empty());
  EXPECT_EQ(calls[1].voxels, 2u);  // from 12000 on: x 7 and 8
  EXPECT_EQ(calls[1].shared.at(0), 2u);
  EXPECT_EQ(calls[2].score, 9000);
}

TEST(FindCalls, ASpikeDoesNotSilenceTheLesionAroundIt) {
  // A voxel of 60000 within a lesion of 23000, which is below 0.4 of it.
  const std::vector<std::uint16_t> row{0, 23000, 23000, 60000, 23000, 22000, 0};
  const Shape shape{1, 1, 7};
  const auto all = find_calls(row, shape, 5000, 1, {});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].score, 60000);
  // The spike is too small and gone; what is left of it are two parts, of which none is too small.
  const auto calls = find_calls(row, shape, 5000, 2, {});
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].score, 23000);
  EXPECT_EQ(calls[0].voxels, 2u);
  EXPECT_EQ(calls[1].doubled_zyx[2], 9 + 11);
  EXPECT_TRUE(find_calls(row, shape, 5000, 3, {}).empty());
}

TEST(Froc, ReadsSensitivityOffTheCurve) {
  // Two scans, three lesions. In falling order of score: hit, miss, hit, miss, miss.
  const ScanCalls first{{{0.9, true}, {0.8, false}, {0.3, false}}, 2},
      second{{{0.5, true}, {0.4, false}}, 1};
  const ScanCalls scans[] = {first, second};
  const Froc curve = froc(scans);
  ASSERT_EQ(curve.curve.size(), 5u);
  EXPECT_EQ(curve.curve.back().hits, 2u);
  EXPECT_EQ(curve.from_score(0.5)->calls, 3u);
  EXPECT_EQ(curve.from_score(0.95), nullptr);
  EXPECT_EQ(curve.curve[2].false_positives, 0.5);
  EXPECT_EQ(curve.sensitivity_at(0.25), 1.0 / 3);  // only the first threshold has so few
  EXPECT_EQ(curve.sensitivity_at(0.5), 2.0 / 3);
  EXPECT_EQ(curve.sensitivity_at(8), 2.0 / 3);
  EXPECT_NEAR(*curve.mean_sensitivity(), (2 * 1.0 / 3 + 5 * 2.0 / 3) / 7, 1e-15);
}

TEST(Froc, EqualScoresComeTogetherWhateverTheirOrder) {
  const ScanCalls a{{{0.5, false}, {0.5, true}, {0.7, true}}, 2},
      b{{{0.7, true}, {0.5, true}, {0.5, false}}, 2};
  const Froc left = froc({&a, 1}), right = froc({&b, 1});
  ASSERT_EQ(left.curve.size(), 2u);
  ASSERT_EQ(right.curve.size(), 2u);
  EXPECT_EQ(left.curve[1].sensitivity, 1);
  EXPECT_EQ(left.curve[1].false_positives, 1);
  EXPECT_EQ(left.sensitivity_at(0.5), 0.5);
  EXPECT_EQ(right.sensitivity_at(0.5), 0.5);
}

TEST(Froc, WithoutLesionsOrCalls) {
  const ScanCalls healthy{{{0.9, false}}, 0}, silent{{}, 3};
  EXPECT_FALSE(froc({&healthy, 1}).mean_sensitivity());
  const ScanCalls both[] = {healthy, silent};
  EXPECT_EQ(froc(both).mean_sensitivity(), 0);
  EXPECT_FALSE(froc({}).sensitivity_at(1));
}

TEST(BootstrapIntervals, OfAMeanAreThoseOfTheNormalDistribution) {
  // 400 values 0..1 evenly: the mean's standard error is sqrt(1/12 / 400) = 0.01443.
  const auto mean = [](std::span<const std::size_t> drawn) -> Figures {
    double sum = 0;
    for (const std::size_t i : drawn) sum += (static_cast<double>(i) + 0.5) / 400;
    return {sum / static_cast<double>(drawn.size()), std::nullopt};
  };
  const auto intervals = bootstrap_intervals(400, 2000, 3, 77, mean);
  ASSERT_EQ(intervals.size(), 2u);
  EXPECT_NEAR((*intervals[0])[0], 0.5 - 1.96 * 0.01443, 0.003);
  EXPECT_NEAR((*intervals[0])[1], 0.5 + 1.96 * 0.01443, 0.003);
  EXPECT_FALSE(intervals[1]);
  EXPECT_EQ(bootstrap_intervals(400, 2000, 3, 77, mean)[0], intervals[0]);
  EXPECT_NE(bootstrap_intervals(400, 2000, 4, 77, mean)[0], intervals[0]);
  EXPECT_TRUE(bootstrap_intervals(400, 0, 3, 77, mean).empty());
}

/// Truth: one lesion of 3 × 3 × 3; prediction as given.
struct Scene {
  PredictedVolume volume;
  VolumeRules rules;
  Scene() {
    volume.shape_zyx = {8, 8, 24};
    volume.spacing_mm_zyx = {2, 1, 1};
    volume.predicted.assign(8 * 8 * 24, 0);
    volume.truth = volume.predicted;
    volume.lesion.assign(8 * 8 * 24, 0);
    rules.lesion_classes = {1};
    rules.lesion_min_mm3 = 4;
    cube(
        2, 2, 2, [](auto&) {}, &volume.truth);
  }
  template <typename Then>
  void cube(std::int64_t z0, std::int64_t y0, std::int64_t x0, const Then& then,
            std::vector<std::uint8_t>* labels = nullptr, std::int64_t edge = 3) {
    for (std::int64_t z = z0; z < z0 + edge; ++z) {
      for (std::int64_t y = y0; y < y0 + edge; ++y) {
        for (std::int64_t x = x0; x < x0 + edge; ++x) {
          const auto i = static_cast<std::size_t>((z * 8 + y) * 24 + x);
          if (labels != nullptr) (*labels)[i] = 1;
          then(i);
        }
      }
    }
  }
  void call(std::int64_t z, std::int64_t y, std::int64_t x, double p, std::int64_t edge = 3) {
    cube(
        z, y, x,
        [&](std::size_t i) {
          volume.predicted[i] = p >= 0.5 ? 1 : 0;
          volume.lesion[i] = static_cast<std::uint16_t>(p * 65535);
        },
        nullptr, edge);
  }
};

TEST(MeasureVolume, AHitAFalsePositiveAndASpeck) {
  Scene scene;
  scene.call(2, 2, 3, 0.8);    // 18 of 27 voxels shared: IoU 0.5
  scene.call(2, 2, 12, 0.9);   // nothing there
  scene.call(6, 6, 20, 1, 1);  // 2 mm³: too small
  const VolumeFigures figures = measure_volume(scene.volume, scene.rules);
  ASSERT_EQ(figures.calls.size(), 2u);
  EXPECT_NEAR(figures.calls[0].score, 0.9, 1e-4);
  EXPECT_FALSE(figures.calls[0].matched);
  EXPECT_TRUE(figures.calls[1].matched);
  EXPECT_DOUBLE_EQ(figures.calls[1].overlap, 18.0 / 36);
  EXPECT_DOUBLE_EQ(figures.calls[1].volume_mm3, 54);
  EXPECT_EQ(figures.calls[1].centre_zyx, (std::array<double, 3>{3.5, 3.5, 4.5}));
  ASSERT_EQ(figures.lesions.size(), 1u);
  EXPECT_TRUE(figures.lesions[0].matched);
  EXPECT_EQ(figures.scan().lesions, 1u);
  EXPECT_DOUBLE_EQ(*figures.confusion.dice(1), 2.0 * 18 / (27 + 27 + 27 + 1));
  EXPECT_TRUE(figures.surface_dice[1]);
  EXPECT_FALSE(figures.surface_dice[0]);
}

TEST(MeasureVolume, WhatIsNotAnnotatedTakesNoPart) {
  Scene scene, masked;
  for (Scene* s : {&scene, &masked}) s->call(2, 2, 3, 0.8);
  masked.call(3, 3, 14, 0.9);
  for (std::size_t i = 0; i < masked.volume.truth.size(); ++i) {
    if (i % 24 < 12) continue;
    masked.volume.truth[i] = 255;
    masked.volume.lesion[i] = 0;
  }
  const auto a = measure_volume(scene.volume, scene.rules),
             b = measure_volume(masked.volume, masked.rules);
  EXPECT_EQ(a.calls.size(), b.calls.size());
  EXPECT_EQ(a.surface_dice[1], b.surface_dice[1]);
  EXPECT_EQ(a.hd95_mm[1], b.hd95_mm[1]);
  EXPECT_EQ(a.confusion.dice(1), b.confusion.dice(1));
}

TEST(MeasureVolume, EmptySets) {
  Scene missed;
  const auto nothing_said = measure_volume(missed.volume, missed.rules);
  EXPECT_EQ(nothing_said.confusion.dice(1), 0);
  EXPECT_EQ(nothing_said.surface_dice[1], 0);
  EXPECT_FALSE(nothing_said.hd95_mm[1]);
  // The diagonal of 8 × 8 × 24 voxels of 2 × 1 × 1 mm.
  EXPECT_DOUBLE_EQ(*nothing_said.hd95_penalised_mm[1], std::sqrt(16.0 * 16 + 8 * 8 + 24 * 24));
  EXPECT_FALSE(nothing_said.lesions[0].matched);

  Scene healthy;
  std::fill(healthy.volume.truth.begin(), healthy.volume.truth.end(), 0);
  const auto silent = measure_volume(healthy.volume, healthy.rules);
  EXPECT_FALSE(silent.confusion.dice(1));
  EXPECT_FALSE(silent.surface_dice[1]);
  EXPECT_FALSE(silent.hd95_penalised_mm[1]);
  EXPECT_EQ(silent.scan().lesions, 0u);

  std::fill(healthy.volume.truth.begin(), healthy.volume.truth.end(), 255);
  EXPECT_FALSE(measure_volume(healthy.volume, healthy.rules).annotated());
}

TEST(MeasureVolume, ALabelThatIsNoClassIsNamed) {
  Scene scene;
  scene.volume.truth[(3 * 8 + 4) * 24 + 5] = 7;
  try {
    measure_volume(scene.volume, scene.rules);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("label 7 at voxel z 3, y 4, x 5"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace headrace::measure
