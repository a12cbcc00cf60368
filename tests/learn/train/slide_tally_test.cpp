#include "tests/learn/model/watched_operations.hpp"

#include "learn/train/slide/slide_tally.hpp"

#include <gtest/gtest.h>

#include "headrace/core/ignore_label.hpp"
#include "learn/inference/host_canvas.hpp"
#include "learn/inference/tensor_canvas.hpp"
#include "tests/learn/inference/tiles_there.hpp"
#include "tests/learn/model/operations_on_meta.hpp"

namespace headrace::train {
namespace {

using inference::StitchedPart;

measure::SlideRules rules_of(std::size_t classes, bool sets) {
  measure::SlideRules rules;
  for (std::size_t c = 0; c < classes; ++c) {
    rules.classes.push_back("class" + std::to_string(c));
    rules.tumour.push_back(c >= 2 || (classes == 2 && c == 1));
  }
  if (sets && classes >= 4) {
    rules.class_sets = {{"decided", {2, 3}}, {"undecided", {1, 2}}};
    rules.untold.assign(classes, false);
    rules.untold[3] = true;
  }
  return rules;
}

/// Labels of the whole range of values: class sets, and what is not annotated.
fixtures::CanvasCase case_of(std::size_t classes, std::size_t values, double overlap) {
  fixtures::CanvasCase of{static_cast<std::int64_t>(classes), {1, 9, 12}, overlap};
  of.make(static_cast<std::uint32_t>(31 * classes + values));
  std::uint32_t place = 0;
  for (auto& tile : of.truth) {
    for (auto& label : tile) {
      place = place * 1664525u + 1013904223u;
      const std::size_t drawn = (place >> 16) % (values + 1);
      label = drawn == values ? kIgnoreLabel : static_cast<std::uint8_t>(drawn);
    }
  }
  return of;
}

struct Counted {
  std::uint32_t image;
  measure::SlideCounts counts;
  measure::ScoreCounts exact;
};

/// By rows on the host, or by tensors.
std::vector<Counted> counted(const fixtures::CanvasCase& of, const measure::SlideRules& rules,
                             bool there) {
  std::vector<Counted> out;
  measure::SlideMeter meter(rules);
  SlideTally tally(rules);
  std::optional<std::uint32_t> image;
  const auto finish = [&] {
    if (there) meter.add_counts(tally.take(*image));
    out.push_back({*image, meter.finish(), {}});
    out.back().exact = meter.exact_scores();
  };
  const auto sink = [&](StitchedPart& row) {
    if (image && *image != row.image) finish();
    image = row.image;
    if (there) {
      EXPECT_TRUE(row.probabilities.empty());
      meter.add_structures({row.at, row.predicted, row.truth, {}}, "a slide");
    } else {
      meter.add({row.at, row.predicted, row.truth, row.probabilities}, "a slide");
    }
  };
  std::unique_ptr<inference::Canvas> canvas;
  std::optional<fixtures::TilesThere> moved;
  if (there) {
    moved.emplace(of);
    inference::PartUse use{.truth = true};
    use.look = [&](const inference::PartTensors& parts) { tally.add(parts); };
    canvas = std::make_unique<inference::TensorCanvas>(
        of.classes, of.window(), of.most_pixels(), fixtures::model_device_index(),
        std::make_unique<inference::PartSender>(use, sink));
  } else {
    canvas = std::make_unique<inference::HostCanvas>(of.classes, of.window(), sink, nullptr);
  }
  inference::Stitcher stitcher(
      of.window(), [&](std::uint32_t number) { return of.extent(number); }, std::move(canvas));
  stitcher.add(moved ? moved->tiles() : std::span<const inference::TileResult>(of.tiles));
  stitcher.finish();
  finish();
  return out;
}

TEST(SlideTally, CountsWhatTheMeterCounts) {
  struct Case {
    std::size_t classes;
    bool sets;
    double overlap;
  };
  for (const Case& c : {Case{1, false, 0}, Case{2, false, 0.5}, Case{3, false, 0.25},
                        Case{5, true, 0.5}, Case{4, true, 0}, Case{9, true, 0.25}}) {
    SCOPED_TRACE(::testing::Message() << c.classes << " classes, overlap " << c.overlap);
    const measure::SlideRules rules = rules_of(c.classes, c.sets);
    const auto of = case_of(c.classes, c.classes + rules.class_sets.size(), c.overlap);
    const auto wanted = counted(of, rules, false), found = counted(of, rules, true);
    ASSERT_EQ(wanted.size(), 3u);
    ASSERT_EQ(found.size(), 3u);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const measure::SlideCounts &w = wanted[i].counts, &f = found[i].counts;
      EXPECT_EQ(found[i].image, wanted[i].image);
      EXPECT_GT(w.confusion.total(), 20u);
      EXPECT_EQ(f.confusion.to_json(rules.classes).dump(),
                w.confusion.to_json(rules.classes).dump());
      EXPECT_EQ(f.predicted_px, w.predicted_px);
      EXPECT_EQ(f.truth_px, w.truth_px);
      EXPECT_EQ(f.tumour.to_json({"no", "yes"}).dump(), w.tumour.to_json({"no", "yes"}).dump());
      EXPECT_EQ(f.scores.rows(), w.scores.rows());
      EXPECT_EQ(f.auc, w.auc);
      EXPECT_EQ(f.calibration.to_json().dump(), w.calibration.to_json().dump());
      EXPECT_EQ(found[i].exact.rows(), wanted[i].exact.rows());
      EXPECT_EQ(f.objects.size(), w.objects.size());
    }
  }
}

/// Probabilities whose scores lie on halves of steps, ties and certain ones: where roundings
/// differ.
TEST(SlideTally, RoundsAsTheMeterDoes) {
  const measure::SlideRules rules = rules_of(3, false);
  auto of = case_of(3, 3, 0);
  for (std::size_t t = 0; t < of.probabilities.size(); ++t) {
    const std::size_t pixels = of.probabilities[t].size() / 3;
    for (std::size_t i = 0; i < pixels; ++i) {
      const float half = (static_cast<float>((t * 131 + i * 7) % 65535) + 0.5f) / 65535.0f;
      const float p = i % 5 == 0 ? 1.0f : i % 5 == 1 ? 1.0f / 3 : half;
      of.probabilities[t][i] = i % 5 == 1 ? p : (1 - p) / 2;
      of.probabilities[t][pixels + i] = i % 5 == 1 ? p : (1 - p) / 2;
      of.probabilities[t][2 * pixels + i] = p;
    }
  }
  const auto wanted = counted(of, rules, false), found = counted(of, rules, true);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(found[i].exact.rows(), wanted[i].exact.rows());
    EXPECT_EQ(found[i].counts.calibration.to_json().dump(),
              wanted[i].counts.calibration.to_json().dump());
  }
}

TEST(SlideTally, GivesTheHostNoNumberBeforeItIsAsked) {
  const measure::SlideRules rules = rules_of(3, false);
  const auto of = case_of(3, 3, 0.5);
  const model::fixtures::WatchedOperations watch;
  EXPECT_EQ(counted(of, rules, true).size(), 3u);
  EXPECT_EQ(watch.host_reads() + watch.waits_for_copies(), 0);
  EXPECT_EQ(watch.count("aten::bincount") + watch.count("aten::histc"), 0);
  EXPECT_GT(watch.count("aten::searchsorted"), 10) << "the watch sees nothing";
}

/// On a device without memory, of which a copy to the host would be an error.
TEST(SlideTally, CopiesItsTablesOnce) {
  const model::fixtures::OperationsOnMeta operations;
  for (const bool sets : {false, true}) {
    SlideTally tally(rules_of(5, sets));
    const model::fixtures::WatchedOperations watch;
    inference::PartTensors parts;
    parts.means = model::fixtures::on_meta({4, 5, 30});
    parts.predicted = model::fixtures::on_meta({4, 30}, at::kByte);
    parts.truth = model::fixtures::on_meta({4, 30}, at::kByte);
    for (; parts.first < 12; parts.first += 4) {
      tally.add(parts);
      EXPECT_EQ(watch.copies_from_host(), 3) << "label values, tumour, and true classes";
    }
    EXPECT_EQ(watch.waits_for_copies() + watch.host_reads(), 0);
    EXPECT_GT(watch.count("aten::searchsorted"), 6) << "the watch sees nothing";
  }
}

TEST(SlideTally, OfASlideWithoutTilesThereAreNone) {
  SlideTally tally(rules_of(3, false));
  const measure::PixelCounts none = tally.take(7);
  EXPECT_EQ(none.pairs, std::vector<std::uint64_t>(12, 0));
  EXPECT_TRUE(none.tumour.rows().empty());
}

}  // namespace
}  // namespace headrace::train
