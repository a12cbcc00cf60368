#include "learn/inference/tensor_mean.hpp"

#include <gtest/gtest.h>

#include <map>

#include "headrace/core/error.hpp"
#include "learn/inference/part_sender.hpp"
#include "learn/inference/tensor_canvas.hpp"
#include "tests/learn/inference/tiles_there.hpp"
#include "tests/learn/model/watched_operations.hpp"

namespace headrace::inference {
namespace {

using fixtures::CanvasCase;

/// The same tiles of several runs, each with probabilities of its own.
std::vector<CanvasCase> runs_of(const CanvasCase& of, std::size_t count) {
  std::vector<CanvasCase> runs(count, of);
  for (std::size_t run = 0; run < count; ++run)
    runs[run].make(static_cast<std::uint32_t>(7 * run + 1));
  return runs;
}

struct Mean {
  std::vector<StitchedPart> parts;
  std::map<std::uint32_t, RunAgreement> agreement;
};

/// By loops over the host's canvases.
Mean mean_on_host(const std::vector<CanvasCase>& runs) {
  std::vector<std::vector<StitchedPart>> all;
  for (const CanvasCase& of : runs) {
    Stitcher stitcher(
        of.classes, of.window(), [&](std::uint32_t image) { return of.extent(image); },
        [&parts = all.emplace_back()](StitchedPart& part) { parts.push_back(part); });
    stitcher.add(of.tiles);
    stitcher.finish();
  }
  Mean out{all.front(), {}};
  const auto classes = static_cast<std::size_t>(runs.front().classes);
  for (std::size_t k = 0; k < out.parts.size(); ++k) {
    StitchedPart& part = out.parts[k];
    const std::size_t pixels = part.predicted.size();
    for (std::size_t i = 0; i < part.probabilities.size(); ++i) {
      for (std::size_t run = 1; run < runs.size(); ++run)
        part.probabilities[i] += all[run][k].probabilities[i];
      part.probabilities[i] /= static_cast<float>(runs.size());
    }
    for (std::size_t i = 0; i < pixels; ++i) {
      if (part.predicted[i] == 255) continue;
      bool disputed = false;
      for (const auto& parts : all) disputed |= parts[k].predicted[i] != all[0][k].predicted[i];
      out.agreement[part.image].pixels += 1;
      out.agreement[part.image].disputed += disputed;
      std::size_t best = 0;
      for (std::size_t c = 1; c < classes; ++c) {
        if (part.probabilities[c * pixels + i] > part.probabilities[best * pixels + i]) best = c;
      }
      part.predicted[i] = static_cast<std::uint8_t>(best);
    }
  }
  return out;
}

/// A run's canvas, which gets `batch` tiles at a time.
class Blended {
 public:
  Blended(const CanvasCase& of, std::unique_ptr<TensorSink> sink, std::size_t batch)
      : there_(of),
        rest_(there_.tiles()),
        batch_(batch),
        stitcher_(
            of.window(), [&of](std::uint32_t image) { return of.extent(image); },
            std::make_unique<TensorCanvas>(of.classes, of.window(), of.most_pixels(),
                                           fixtures::model_device_index(), std::move(sink))) {}
  bool step() {
    if (ended_) return false;
    ended_ = rest_.empty();
    if (ended_) {
      stitcher_.finish();
      return true;
    }
    const std::size_t some = std::min(batch_, rest_.size());
    stitcher_.add(rest_.first(some));
    rest_ = rest_.subspan(some);
    return true;
  }

 private:
  fixtures::TilesThere there_;
  std::span<const TileResult> rest_;
  std::size_t batch_;
  Stitcher stitcher_;
  bool ended_ = false;
};

Mean mean_there(const std::vector<CanvasCase>& runs, PartUse use,
                const std::vector<std::size_t>& batches) {
  Mean out;
  const auto mean = std::make_shared<TensorMean>(
      runs.size(), std::make_unique<PartSender>(
                       std::move(use), [&](StitchedPart& part) { out.parts.push_back(part); }));
  std::vector<std::unique_ptr<Blended>> blended;
  for (std::size_t run = 0; run < runs.size(); ++run)
    blended.push_back(std::make_unique<Blended>(runs[run], TensorMean::input(mean, run),
                                                batches[run % batches.size()]));
  for (std::size_t run = mean->behind(); run < runs.size(); ++run) {
    if (blended[run]->step()) run = mean->behind() - 1;
  }
  for (const std::uint32_t image : {1u, 3u, 5u}) out.agreement[image] = mean->take_agreement(image);
  return out;
}

std::vector<CanvasCase> cases() {
  return {{1, {1, 9, 12}, 0.25},
          {3, {1, 9, 12}, 0.5},
          {4, {1, 70, 100}, 0.5},  // larger than every image
          {2, {5, 6, 7}, 0.8},
          {5, {4, 4, 4}, 0.0},
          {3, {1, 8, 8}, 0.5, /*alike=*/true}};
}

TEST(TensorMean, IsTheMeanOfTheHostsCanvasesToTheLastBit) {
  std::uint64_t disputed = 0;
  for (const CanvasCase& of : cases()) {
    for (const std::size_t count : {2u, 3u, 5u}) {
      SCOPED_TRACE(::testing::Message() << of.classes << " classes, " << count << " runs");
      const auto runs = runs_of(of, count);
      const Mean wanted = mean_on_host(runs);
      for (const auto& batches : std::vector<std::vector<std::size_t>>{{1}, {4, 1, 9}, {2, 1000}}) {
        const Mean found = mean_there(runs, {.probabilities = true}, batches);
        ASSERT_EQ(found.parts.size(), wanted.parts.size());
        for (std::size_t k = 0; k < wanted.parts.size(); ++k) {
          ASSERT_EQ(found.parts[k].image, wanted.parts[k].image);
          ASSERT_EQ(found.parts[k].at, wanted.parts[k].at);
          ASSERT_EQ(found.parts[k].covered, wanted.parts[k].covered);
          ASSERT_EQ(found.parts[k].predicted, wanted.parts[k].predicted);
          ASSERT_EQ(found.parts[k].probabilities, wanted.parts[k].probabilities);
        }
        for (const auto& [image, agreement] : wanted.agreement) {
          EXPECT_EQ(found.agreement.at(image).pixels, agreement.pixels);
          EXPECT_EQ(found.agreement.at(image).disputed, agreement.disputed);
          disputed += agreement.disputed;
        }
      }
    }
  }
  EXPECT_GT(disputed, 1000u);
}

/// The mean is made on the tiles' grid, and taken to level 0 once.
TEST(TensorMean, OfVolumesIsTakenToLevel0) {
  const auto runs = runs_of({2, {5, 6, 7}, 0.5}, 3);
  const Level0 level0{{31, 40, 12}, {1.4, 2.6, 0.7}};
  PartUse use{.probabilities = true};
  use.level0 = [&](std::uint32_t) { return level0; };
  std::vector<std::vector<float>> wanted;
  std::optional<OriginalGrid> grid;
  const Mean blended = mean_on_host(runs);
  for (const StitchedPart& part : blended.parts) {
    if (part.at == 0) {
      grid.emplace(2, runs.front().extent(part.image), level0.shape_zyx, level0.step_zyx,
                   [&](std::int64_t, std::span<const float> probabilities) {
                     wanted.emplace_back(probabilities.begin(), probabilities.end());
                   });
    }
    grid->add(part.probabilities);
  }
  const Mean found = mean_there(runs, use, {3, 1, 50});
  ASSERT_EQ(found.parts.size(), wanted.size());
  EXPECT_EQ(wanted.size(), 3u * 31u);
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    ASSERT_EQ(found.parts[k].at, static_cast<std::int64_t>(k % 31));
    ASSERT_EQ(found.parts[k].probabilities, wanted[k]);
  }
  for (const auto& [image, agreement] : blended.agreement) {
    EXPECT_EQ(found.agreement.at(image).pixels, agreement.pixels);
    EXPECT_EQ(found.agreement.at(image).disputed, agreement.disputed);
  }
}

/// A run that is ahead waits; so do not all of them.
TEST(TensorMean, GivesTheHostNoNumberWhileItWorks) {
  const auto runs = runs_of({3, {1, 9, 12}, 0.5}, 3);
  std::vector<StitchedPart> parts;
  const auto mean = std::make_shared<TensorMean>(
      3,
      std::make_unique<PartSender>(PartUse{}, [&](StitchedPart& part) { parts.push_back(part); }));
  Blended first(runs[0], TensorMean::input(mean, 0), 2),
      second(runs[1], TensorMean::input(mean, 1), 5),
      third(runs[2], TensorMean::input(mean, 2), 100);
  const model::fixtures::WatchedOperations watch;
  while (third.step()) EXPECT_EQ(mean->behind(), 0u);
  while (second.step()) EXPECT_EQ(mean->behind(), 0u);
  EXPECT_TRUE(parts.empty());
  while (first.step()) EXPECT_LT(mean->behind(), 3u);
  EXPECT_FALSE(parts.empty());
  EXPECT_GT(watch.count("aten::div_"), 3);
  EXPECT_EQ(watch.host_reads() + watch.waits_for_copies(), 0);
}

TEST(TensorMean, RefusesRunsOfOtherTiles) {
  auto runs = runs_of({3, {1, 9, 12}, 0.5}, 2);
  auto fewer = runs;
  fewer[1].tiles.resize(fewer[1].tiles.size() / 2);
  EXPECT_THROW(mean_there(fewer, {}, {3}), Error);
  auto no_last_image = runs;
  std::erase_if(no_last_image[1].tiles, [](const TileResult& tile) { return tile.image == 5; });
  for (const std::size_t batch : {3u, 1000u}) {
    EXPECT_THROW(mean_there(no_last_image, {}, {3, batch}), Error);
    EXPECT_THROW(mean_there(no_last_image, {}, {batch, 3}), Error);
  }
  std::swap(no_last_image[0], no_last_image[1]);
  EXPECT_THROW(mean_there(no_last_image, {}, {3}), Error);
  auto others = runs;
  others[1].tiles.erase(others[1].tiles.begin());
  EXPECT_THROW(mean_there(others, {}, {3}), Error);
}

}  // namespace
}  // namespace headrace::inference
