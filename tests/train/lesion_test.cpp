#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/train/bootstrap.hpp"
#include "headrace/train/volume/froc.hpp"
#include "headrace/train/volume/lesion_match.hpp"
#include "headrace/train/volume/volume_figures.hpp"
#include "tests/train/mask_fixture.hpp"

namespace headrace::train {
namespace {

using imaging::Components;
using imaging::find_components;
using imaging::Neighbours;
using testing::Lcg;
using testing::mask_of;
using testing::Shape;

constexpr Shape kShape{4, 6, 40};

/// Bars along x: [from, to) of row y in slice 1.
struct Bar {
  std::int64_t y, from, to;
};
Components bars(const std::vector<Bar>& all) {
  return find_components(mask_of(kShape,
                                 [&](auto z, auto y, auto x) {
                                   return z == 1 && std::any_of(all.begin(), all.end(), [&](Bar b) {
                                            return b.y == y && x >= b.from && x < b.to;
                                          });
                                 }),
                         Neighbours::everything);
}

TEST(MatchLesions, TheBestScoreChoosesFirstAndALesionIsHitOnce) {
  const Components lesions = bars({{0, 0, 10}, {4, 0, 10}});
  // Two calls on the first lesion, one beside everything, one that only grazes the second.
  const Components calls = bars({{0, 0, 4}, {0, 6, 10}, {2, 20, 30}, {4, 9, 20}});
  const auto matched = match_lesions(lesions, calls, {0.6, 0.9, 0.7, 0.8}, 0.1);
  ASSERT_EQ(matched.size(), 4u);
  EXPECT_EQ(matched[0].component, 1u);
  EXPECT_EQ(matched[0].lesion, 0);
  EXPECT_DOUBLE_EQ(matched[0].overlap, 4.0 / 10);
  EXPECT_EQ(matched[1].component, 3u);  // 1 of 20 voxels: below 0.1
  EXPECT_EQ(matched[1].lesion, -1);
  EXPECT_EQ(matched[2].component, 2u);
  EXPECT_EQ(matched[2].lesion, -1);
  EXPECT_EQ(matched[3].component, 0u);  // the lesion is taken
  EXPECT_EQ(matched[3].lesion, -1);
}

TEST(MatchLesions, ACallOverTwoLesionsTakesTheOneItOverlapsMore) {
  const Components lesions = bars({{0, 0, 4}, {0, 6, 16}});
  const Components calls = bars({{0, 0, 16}});
  const auto matched = match_lesions(lesions, calls, {1}, 0.1);
  EXPECT_EQ(matched[0].lesion, 1);
  EXPECT_DOUBLE_EQ(matched[0].overlap, 10.0 / 16);
}

TEST(MatchLesions, OverlapsAreThoseOfVoxelSets) {
  Lcg random(9);
  const auto blob = [&] {
    std::set<std::array<std::int64_t, 3>> cells;
    for (int k = 0; k < 120; ++k)
      cells.insert({random.next() % 4, random.next() % 6, random.next() % 40});
    return cells;
  };
  for (int round = 0; round < 20; ++round) {
    const auto a = blob(), b = blob();
    const auto components = [&](const auto& cells) {
      return find_components(mask_of(kShape,
                                     [&](auto z, auto y, auto x) {
                                       return cells.count(std::array<std::int64_t, 3>{z, y, x}) > 0;
                                     }),
                             Neighbours::everything);
    };
    const Components lesions = components(a), calls = components(b);
    const auto voxels = [](const Components& of, std::uint32_t k) {
      std::set<std::array<std::int64_t, 3>> out;
      for (const auto& run : of.runs) {
        for (std::int32_t x = run.x0; x < run.x1 && run.component == k; ++x)
          out.insert({run.z, run.y, x});
      }
      return out;
    };
    std::vector<double> scores;
    for (std::size_t k = 0; k < calls.sizes.size(); ++k) scores.push_back(random.uniform());
    std::set<std::int32_t> taken;
    for (const auto& call : match_lesions(lesions, calls, scores, 0.05)) {
      double best = 0;
      for (std::uint32_t l = 0; l < lesions.sizes.size(); ++l) {
        if (taken.count(static_cast<std::int32_t>(l)) > 0) continue;
        const auto p = voxels(calls, call.component), q = voxels(lesions, l);
        std::vector<std::array<std::int64_t, 3>> both;
        std::set_intersection(p.begin(), p.end(), q.begin(), q.end(), std::back_inserter(both));
        const auto shared = static_cast<double>(both.size());
        best = std::max(best, shared / (static_cast<double>(p.size() + q.size()) - shared));
      }
      EXPECT_DOUBLE_EQ(call.overlap, best >= 0.05 ? best : 0);
      if (call.lesion < 0) continue;
      EXPECT_TRUE(taken.insert(call.lesion).second);
    }
  }
}

TEST(Froc, ReadsSensitivityOffTheCurve) {
  // Two scans, three lesions. In falling order of score: hit, miss, hit, miss, miss.
  const ScanCalls first{{{0.9, true}, {0.8, false}, {0.3, false}}, 2},
      second{{{0.5, true}, {0.4, false}}, 1};
  const ScanCalls* const scans[] = {&first, &second};
  const Froc curve = froc(scans);
  ASSERT_EQ(curve.curve.size(), 5u);
  EXPECT_EQ(curve.hits, 2u);
  EXPECT_EQ(curve.curve[2].false_positives, 0.5);
  EXPECT_EQ(curve.sensitivity_at(0.25), 1.0 / 3);  // only the first threshold has so few
  EXPECT_EQ(curve.sensitivity_at(0.5), 2.0 / 3);
  EXPECT_EQ(curve.sensitivity_at(8), 2.0 / 3);
  EXPECT_NEAR(*curve.mean_sensitivity(), (1.0 / 3 + 5 * 2.0 / 3) / 6, 1e-15);
}

TEST(Froc, EqualScoresComeTogetherWhateverTheirOrder) {
  const ScanCalls a{{{0.5, false}, {0.5, true}, {0.7, true}}, 2},
      b{{{0.7, true}, {0.5, true}, {0.5, false}}, 2};
  const ScanCalls *const pa[] = {&a}, *const pb[] = {&b};
  const Froc left = froc(pa), right = froc(pb);
  ASSERT_EQ(left.curve.size(), 2u);
  ASSERT_EQ(right.curve.size(), 2u);
  EXPECT_EQ(left.curve[1].sensitivity, 1);
  EXPECT_EQ(left.curve[1].false_positives, 1);
  EXPECT_EQ(left.sensitivity_at(0.5), 0.5);
  EXPECT_EQ(right.sensitivity_at(0.5), 0.5);
}

TEST(Froc, WithoutLesionsOrCalls) {
  const ScanCalls healthy{{{0.9, false}}, 0}, silent{{}, 3};
  const ScanCalls* const only_healthy[] = {&healthy};
  EXPECT_FALSE(froc(only_healthy).mean_sensitivity());
  const ScanCalls* const both[] = {&healthy, &silent};
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
  BlendedVolume volume;
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
    if (i % 24 >= 12) masked.volume.truth[i] = 255;
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
  EXPECT_FALSE(nothing_said.lesions[0].matched);

  Scene healthy;
  std::fill(healthy.volume.truth.begin(), healthy.volume.truth.end(), 0);
  const auto silent = measure_volume(healthy.volume, healthy.rules);
  EXPECT_FALSE(silent.confusion.dice(1));
  EXPECT_FALSE(silent.surface_dice[1]);
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
}  // namespace headrace::train
