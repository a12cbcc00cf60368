#include "tests/learn/model/watched_operations.hpp"

#include "learn/train/volume/volume_tally.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "headrace/core/ignore_label.hpp"
#include "learn/inference/score_rows.hpp"
#include "learn/inference/tensor_math.hpp"
#include "learn/measure/volume/group_figures.hpp"
#include "learn/measure/volume/volume_meter.hpp"
#include "tests/learn/inference/tiles_there.hpp"
#include "tests/learn/model/operations_on_meta.hpp"

namespace headrace::train {
namespace {

using model::fixtures::on_meta;
using Axes = std::array<std::int64_t, 3>;

/// A volume, its annotation and what its rules are.
struct Case {
  std::string name;
  std::size_t classes = 3;
  std::vector<std::uint8_t> lesion_classes{2};
  std::vector<ClassSet> sets{};
  bool truth = true, body = true;
  bool halves = false;  ///< probabilities lie on halves of scores, and many are equal
  std::vector<bool> untold{};
  Axes shape{5, 7, 9};
};

measure::VolumeRules rules_of(const Case& of) {
  measure::VolumeRules rules;
  rules.classes = of.classes;
  rules.lesion_classes = of.lesion_classes;
  rules.class_sets = of.sets;
  rules.untold = of.untold;
  rules.lesion_lowest = 0.3;
  return rules;
}

struct Slices {
  std::size_t pixels, classes;
  std::vector<float> probabilities;  ///< (z, classes, pixels)
  std::vector<std::uint8_t> truth, body;

  Slices(const Case& of, std::uint32_t seed)
      : pixels(static_cast<std::size_t>(of.shape[1] * of.shape[2])), classes(of.classes) {
    std::mt19937 random(seed);
    const std::size_t values = classes + of.sets.size();
    for (std::int64_t z = 0; z < of.shape[0]; ++z) {
      std::vector<float> p(classes * pixels);
      for (std::size_t i = 0; i < pixels; ++i) {
        of.halves ? edges(random, p, i) : shares(random, p, i);
        const std::size_t label = random() % (values + 1);
        truth.push_back(label == values ? kIgnoreLabel : static_cast<std::uint8_t>(label));
        body.push_back(static_cast<std::uint8_t>(random() % 3));
      }
      probabilities.insert(probabilities.end(), p.begin(), p.end());
    }
  }

 private:
  void shares(std::mt19937& random, std::vector<float>& p, std::size_t i) const {
    std::uniform_real_distribution<float> real(0.01f, 1);
    float sum = 0;
    for (std::size_t c = 0; c < classes; ++c) sum += p[c * pixels + i] = real(random);
    for (std::size_t c = 0; c < classes; ++c) p[c * pixels + i] /= sum;
  }
  void edges(std::mt19937& random, std::vector<float>& p, std::size_t i) const {
    const float half = (static_cast<float>(random() % 65535) + 0.5f) / 65535.0f;
    const auto kind = random() % 4;
    const auto others = static_cast<float>(classes - 1);
    for (std::size_t c = 0; c < classes; ++c) {
      const float own = c + 1 == classes ? half : (1 - half) / others;
      p[c * pixels + i] = kind == 0   ? 1 / static_cast<float>(classes)
                          : kind == 1 ? (c == random() % classes ? 1.0f : 0.0f)
                                      : own;
    }
    if (kind == 1) p[i] = std::max(p[i], 0.5f);  // never all 0
  }
};

measure::VolumeFigures on_host(const Case& of, const Slices& slices) {
  measure::VolumeMeter meter(rules_of(of));
  meter.start(of.shape, {2, 1, 0.7});
  using Bytes = std::span<const std::uint8_t>;
  const std::size_t size = slices.classes * slices.pixels;
  for (std::size_t z = 0; z < static_cast<std::size_t>(of.shape[0]); ++z) {
    meter.add({slices.probabilities.data() + z * size, size},
              of.truth ? Bytes{slices.truth.data() + z * slices.pixels, slices.pixels} : Bytes{},
              of.body ? Bytes{slices.body.data() + z * slices.pixels, slices.pixels} : Bytes{});
  }
  return meter.finish();
}

template <typename T>
at::Tensor tensor_of(const T* data, std::vector<std::int64_t> shape) {
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size *= extent;
  return fixtures::tensor_there<T>({data, static_cast<std::size_t>(size)}).view(shape);
}

/// Slabs of two slices into the tally; what comes to the host goes into the meter later.
struct OnHost {
  std::vector<std::uint8_t> predicted, truth;
  std::vector<std::uint16_t> lesion;
};

OnHost tallied(VolumeTally& tally, const Case& of, const Slices& slices, std::uint32_t image) {
  OnHost out;
  const auto pixels = static_cast<std::int64_t>(slices.pixels),
             classes = static_cast<std::int64_t>(slices.classes);
  for (std::int64_t z = 0; z < of.shape[0]; z += 2) {
    const std::int64_t count = std::min<std::int64_t>(2, of.shape[0] - z);
    inference::PartTensors own;
    own.image = image;
    own.first = z;
    own.means =
        tensor_of(slices.probabilities.data() + z * classes * pixels, {count, classes, pixels});
    own.predicted = inference::classes_of(own.means);
    at::Tensor body;
    if (of.truth) own.truth = tensor_of(slices.truth.data() + z * pixels, {count, pixels});
    if (of.body) body = tensor_of(slices.body.data() + z * pixels, {count, pixels});
    at::Tensor lesion = tally.add(own, body);
    if (lesion.defined()) lesion = lesion.to(at::kCPU);
    const at::Tensor host = own.predicted.to(at::kCPU);
    const auto* predicted = host.const_data_ptr<std::uint8_t>();
    out.predicted.insert(out.predicted.end(), predicted, predicted + count * pixels);
    for (std::int64_t k = 0; k < count * pixels; ++k)
      out.lesion.push_back(
          lesion.defined() ? static_cast<std::uint16_t>(lesion.const_data_ptr<std::int32_t>()[k])
                           : std::uint16_t{0});
  }
  out.truth =
      of.truth ? slices.truth : std::vector<std::uint8_t>(slices.truth.size(), kIgnoreLabel);
  return out;
}

measure::VolumeFigures on_tensors(const Case& of, const OnHost& voxels,
                                  const measure::VoxelCounts& counts) {
  measure::VolumeMeter meter(rules_of(of));
  meter.start(of.shape, {2, 1, 0.7});
  const auto pixels = static_cast<std::size_t>(of.shape[1] * of.shape[2]);
  for (std::size_t at = 0; at < voxels.truth.size(); at += pixels) {
    const std::span<const std::uint16_t> lesion(voxels.lesion);
    meter.add_classes(std::span(voxels.predicted).subspan(at, pixels),
                      std::span(voxels.truth).subspan(at, pixels),
                      of.lesion_classes.empty() ? lesion.first(0) : lesion.subspan(at, pixels));
  }
  meter.add_counts(counts);
  return meter.finish();
}

void expect_same(const measure::VolumeFigures& found, const measure::VolumeFigures& wanted,
                 const Case& of) {
  std::vector<std::string> names;
  for (std::size_t c = 0; c < of.classes; ++c) names.push_back("class" + std::to_string(c));
  EXPECT_EQ(found.confusion.to_json(names).dump(), wanted.confusion.to_json(names).dump());
  EXPECT_EQ(found.calibration.to_json().dump(), wanted.calibration.to_json().dump());
  EXPECT_EQ(found.lesion_scores.rows(), wanted.lesion_scores.rows());
  EXPECT_EQ(found.set_voxels, wanted.set_voxels);
  EXPECT_EQ(found.surface_dice, wanted.surface_dice);
  EXPECT_EQ(found.hd95_penalised_mm, wanted.hd95_penalised_mm);
  ASSERT_EQ(found.calls.size(), wanted.calls.size());
  for (std::size_t k = 0; k < wanted.calls.size(); ++k) {
    EXPECT_EQ(found.calls[k].score, wanted.calls[k].score);
    EXPECT_EQ(found.calls[k].voxels, wanted.calls[k].voxels);
    EXPECT_EQ(found.calls[k].overlap, wanted.calls[k].overlap);
    EXPECT_EQ(found.calls[k].centre_zyx, wanted.calls[k].centre_zyx);
  }
  EXPECT_EQ(found.lesions.size(), wanted.lesions.size());
}

std::vector<Case> cases() {
  const std::vector<ClassSet> sets{{"decided", {2, 3}}, {"undecided", {1, 2}}};
  return {
      {.name = "plain"},
      {.name = "one class", .classes = 1, .lesion_classes = {}},
      {.name = "no lesions", .classes = 4, .lesion_classes = {}},
      {.name = "sets", .classes = 4, .lesion_classes = {2, 3}, .sets = sets},
      {.name = "lesions in another order", .classes = 4, .lesion_classes = {3, 1}, .sets = sets},
      {.name = "untold",
       .classes = 4,
       .lesion_classes = {2},
       .sets = sets,
       .untold = {false, true, false, false}},
      {.name = "no truth", .truth = false},
      {.name = "no body", .body = false},
      {.name = "halves", .classes = 2, .lesion_classes = {1}, .halves = true, .shape = {9, 31, 33}},
      {.name = "halves of many", .classes = 9, .lesion_classes = {4, 8}, .halves = true}};
}

TEST(VolumeTally, CountsWhatTheMeterCounts) {
  for (const Case& of : cases()) {
    SCOPED_TRACE(of.name);
    // Several images; the counts of one are taken when the next is already being counted.
    VolumeTally tally(rules_of(of));
    const Slices first(of, 1), second(of, 2);
    const OnHost one = tallied(tally, of, first, 3), two = tallied(tally, of, second, 5);
    const measure::VolumeFigures wanted = on_host(of, first);
    expect_same(on_tensors(of, one, tally.take(3)), wanted, of);
    expect_same(on_tensors(of, two, tally.take(5)), on_host(of, second), of);
    EXPECT_EQ(wanted.calibration.count() > 20, of.truth && of.body);
    EXPECT_EQ(wanted.lesion_scores.rows().empty(),
              of.lesion_classes.empty() || !of.truth || !of.body);
    EXPECT_EQ(wanted.calls.empty(), of.lesion_classes.empty() || !of.truth);
  }
}

/// Labels that are neither class nor set are refused by the figures, not counted here.
TEST(VolumeTally, OtherLabelsCountNowhere) {
  const Case of = cases().front();
  Slices slices(of, 1);
  std::fill(slices.truth.begin(), slices.truth.end(), 9);
  VolumeTally tally(rules_of(of));
  const OnHost voxels = tallied(tally, of, slices, 0);
  const measure::VoxelCounts counts = tally.take(0);
  EXPECT_TRUE(counts.highest.rows().empty());
  EXPECT_TRUE(counts.lesion.rows().empty());
  EXPECT_EQ(counts.squared_steps, 0u);
  EXPECT_EQ(*std::max_element(voxels.lesion.begin(), voxels.lesion.end()), 0);
}

TEST(VolumeTally, GivesTheHostNoNumberBeforeItIsAsked) {
  const Case of = cases()[3];
  const Slices slices(of, 1);
  VolumeTally tally(rules_of(of));
  const model::fixtures::WatchedOperations watch;
  tallied(tally, of, slices, 0);
  EXPECT_FALSE(tally.take(0).highest.rows().empty());
  EXPECT_EQ(watch.host_reads(), 0);
  EXPECT_EQ(watch.count("aten::bincount") + watch.count("aten::histc"), 0);
  EXPECT_GT(watch.count("aten::searchsorted"), 3) << "the watch sees nothing";
}

/// On a device without memory, of which a copy to the host would be an error.
TEST(VolumeTally, CopiesItsTablesOnce) {
  const model::fixtures::OperationsOnMeta operations;
  for (const Case& of : cases()) {
    if (!of.truth) continue;
    SCOPED_TRACE(of.name);
    VolumeTally tally(rules_of(of));
    const model::fixtures::WatchedOperations watch;
    const std::int64_t pixels = of.shape[1] * of.shape[2];
    inference::PartTensors slices;
    slices.means = on_meta({2, static_cast<std::int64_t>(of.classes), pixels});
    slices.predicted = inference::classes_of(slices.means);
    slices.truth = on_meta({2, pixels}, at::kByte);
    const at::Tensor body = of.body ? on_meta({2, pixels}, at::kByte) : at::Tensor();
    for (; slices.first < 6; slices.first += 2) {
      EXPECT_EQ(tally.add(slices, body).defined(), !of.lesion_classes.empty());
      EXPECT_EQ(watch.copies_from_host(), 3) << "what labels state, lesions, and true classes";
    }
    EXPECT_EQ(watch.waits_for_copies() + watch.host_reads(), 0);
    EXPECT_EQ(watch.count("aten::searchsorted") > 0, of.body);
  }
}

TEST(VolumeTally, OfAnImageWithoutSlicesThereAreNone) {
  VolumeTally tally(rules_of(cases().front()));
  EXPECT_TRUE(tally.take(7).highest.rows().empty());
}

}  // namespace
}  // namespace headrace::train
