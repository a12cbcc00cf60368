#include "learn/inference/tensor_canvas.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <optional>

#include "learn/inference/part_sender.hpp"
#include "tests/learn/inference/tiles_there.hpp"
#include "tests/learn/model/watched_operations.hpp"

namespace headrace::inference {
namespace {

using fixtures::CanvasCase;

/// By tensors of model_device().
void stitch_there(const CanvasCase& of, PartUse use, Canvas::Sink sink, std::size_t batch) {
  const fixtures::TilesThere there(of);
  Stitcher stitcher(
      of.window(), [&](std::uint32_t image) { return of.extent(image); },
      std::make_unique<TensorCanvas>(
          of.classes, of.window(), of.most_pixels(), fixtures::model_device_index(),
          std::make_unique<PartSender>(std::move(use), std::move(sink))));
  const auto tiles = there.tiles();
  for (std::size_t i = 0; i < tiles.size(); i += batch)
    stitcher.add(tiles.subspan(i, std::min(batch, tiles.size() - i)));
  stitcher.finish();
}

Canvas::Sink into(std::vector<StitchedPart>& parts) {
  return [&parts](StitchedPart& part) { parts.push_back(part); };
}

std::vector<StitchedPart> on_host(const CanvasCase& of) {
  std::vector<StitchedPart> parts;
  Stitcher stitcher(
      of.classes, of.window(), [&](std::uint32_t image) { return of.extent(image); }, into(parts));
  stitcher.add(of.tiles);
  stitcher.finish();
  return parts;
}

std::vector<StitchedPart> on_tensors(const CanvasCase& of, std::size_t batch, PartUse use) {
  std::vector<StitchedPart> parts;
  stitch_there(of, std::move(use), into(parts), batch);
  return parts;
}

void expect_same(const std::vector<StitchedPart>& found, const std::vector<StitchedPart>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(found[i].image, wanted[i].image) << i;
    ASSERT_EQ(found[i].at, wanted[i].at) << i;
    ASSERT_EQ(found[i].covered, wanted[i].covered) << i;
    ASSERT_EQ(found[i].predicted, wanted[i].predicted) << i;
    ASSERT_EQ(found[i].truth, wanted[i].truth) << i;
    ASSERT_EQ(found[i].probabilities.size(), wanted[i].probabilities.size()) << i;
    ASSERT_EQ(std::memcmp(found[i].probabilities.data(), wanted[i].probabilities.data(),
                          wanted[i].probabilities.size() * sizeof(float)),
              0)
        << i;
  }
}

/// Tiles of slides and volumes, from one class to nine, that share nothing to most of their edges.
std::vector<CanvasCase> cases() {
  std::vector<CanvasCase> all;
  for (const double overlap : {0.0, 0.25, 0.5, 0.8}) {
    for (const std::int64_t classes : {1, 2, 5, 9}) {
      all.push_back({classes, {1, 9, 12}, overlap});
      all.push_back({classes, {5, 6, 7}, overlap});
    }
    all.push_back({3, {1, 8, 8}, overlap, /*alike=*/true});
    all.push_back({3, {4, 4, 4}, overlap, /*alike=*/true});
    all.push_back({3, {1, 8, 8}, overlap, false, /*with_truth=*/false});
  }
  all.push_back({2, {1, 70, 100}, 0.5});  // larger than every image
  all.push_back({2, {30, 30, 40}, 0.5});
  std::uint32_t seed = 1;
  for (CanvasCase& one : all) one.make(seed++);
  return all;
}

TEST(TensorCanvas, IsTheHostsCanvasToTheLastBit) {
  for (const CanvasCase& of : cases()) {
    SCOPED_TRACE(::testing::Message() << of.classes << " classes, overlap " << of.overlap
                                      << ", tile " << of.tile_zyx[0] << "x" << of.tile_zyx[1]);
    const auto wanted = on_host(of);
    std::size_t covered = 0;
    for (const StitchedPart& part : wanted) covered += part.covered;
    ASSERT_GT(covered, 20u);
    for (const std::size_t batch : {std::size_t{1}, std::size_t{4}, of.tiles.size()})
      expect_same(on_tensors(of, batch, {.truth = true, .probabilities = true}), wanted);
  }
}

TEST(TensorCanvas, GivesOnlyWhatIsAskedFor) {
  const CanvasCase of = cases().front();
  for (const StitchedPart& part : on_tensors(of, 2, {})) {
    EXPECT_FALSE(part.predicted.empty());
    EXPECT_TRUE(part.probabilities.empty());
    EXPECT_TRUE(part.scores.empty());
  }
}

/// Scores are rows of bytes made of the parts, put where the parts' pixels are; and who looks sees
/// the same parts.
TEST(TensorCanvas, ScoresAndLooksAreOfThePartsThatComeOut) {
  for (const CanvasCase& of : cases()) {
    const auto wanted = on_host(of);
    std::map<std::uint32_t, std::int64_t> seen, expected;
    const auto classes = static_cast<std::size_t>(of.classes);
    PartUse use{.score_rows = classes + 1};
    use.look = [&](PartTensors& parts) {
      const at::Tensor bytes = parts.means.mul(255).to(at::kByte);
      parts.scores = at::cat({bytes, parts.predicted.unsqueeze(1)}, 1);
      seen[parts.image] += parts.predicted.ne(255).sum().item<std::int64_t>();
    };
    const auto found = on_tensors(of, 3, use);
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto& [image, at, covered, predicted, truth, probabilities, none] = wanted[i];
      for (std::size_t x = 0; x < predicted.size(); ++x) {
        for (std::size_t c = 0; c < classes; ++c) {
          const std::size_t k = c * predicted.size() + x;
          ASSERT_EQ(found[i].scores[k], static_cast<std::uint8_t>(probabilities[k] * 255));
        }
        const std::uint8_t last = found[i].scores[classes * predicted.size() + x];
        ASSERT_EQ(last, predicted[x] == 255 && last == 0 ? 0 : predicted[x]);
        expected[image] += predicted[x] != 255;
      }
    }
    EXPECT_EQ(seen, expected);
  }
}

/// The grids of level 0 of a case's volumes: finer and coarser than the tiles', the same, and odd.
Level0 level0_of(const CanvasCase& of, std::uint32_t image, int turn) {
  static constexpr std::array<std::array<double, 3>, 4> kSteps{
      {{2, 2.3, 1.7}, {1, 0.6, 1}, {0.7, 1, 3}, {1, 1, 1}}};
  Level0 out;
  out.step_zyx = kSteps[(image + static_cast<std::uint32_t>(turn)) % kSteps.size()];
  for (std::size_t axis = 0; axis < 3; ++axis)
    out.shape_zyx[axis] = static_cast<std::int64_t>(
        static_cast<double>(of.extent(image)[axis]) * out.step_zyx[axis] + 0.4);
  return out;
}

/// The slices of level 0 by the host's canvas and its grid, with the classes of the highest.
std::vector<StitchedPart> on_host_at_level0(const CanvasCase& of, int turn) {
  std::vector<StitchedPart> out;
  std::optional<OriginalGrid> grid;
  const auto classes = static_cast<std::size_t>(of.classes);
  for (const StitchedPart& part : on_host(of)) {
    if (part.at == 0) {
      const Level0 level0 = level0_of(of, part.image, turn);
      grid.emplace(classes, of.extent(part.image), level0.shape_zyx, level0.step_zyx,
                   [&out, classes, image = part.image](std::int64_t z, auto probabilities) {
                     StitchedPart& own = out.emplace_back();
                     own.image = image;
                     own.at = z;
                     own.covered = true;
                     own.probabilities.assign(probabilities.begin(), probabilities.end());
                     const std::size_t pixels = probabilities.size() / classes;
                     own.truth.assign(pixels, 255);
                     own.predicted.assign(pixels, 0);
                     for (std::size_t i = 0; i < classes * pixels; ++i) {
                       std::uint8_t& best = own.predicted[i % pixels];
                       if (probabilities[i] > probabilities[best * pixels + i % pixels])
                         best = static_cast<std::uint8_t>(i / pixels);
                     }
                   });
    }
    grid->add(part.probabilities);
  }
  return out;
}

std::vector<StitchedPart> on_tensors_at_level0(const CanvasCase& of, std::size_t batch, int turn,
                                               PartUse use) {
  use.level0 = [&of, turn](std::uint32_t image) { return level0_of(of, image, turn); };
  std::vector<StitchedPart> parts;
  stitch_there(of, std::move(use), into(parts), batch);
  return parts;
}

TEST(TensorCanvas, TakesVolumesToLevel0AsTheHostDoes) {
  int turn = 0;
  for (const CanvasCase& of : cases()) {
    if (of.tile_zyx[0] == 1) continue;
    const auto wanted = on_host_at_level0(of, ++turn);
    SCOPED_TRACE(::testing::Message() << of.classes << " classes, overlap " << of.overlap);
    for (const std::size_t batch : {std::size_t{1}, of.tiles.size()})
      expect_same(on_tensors_at_level0(of, batch, turn, {.truth = true, .probabilities = true}),
                  wanted);
  }
  EXPECT_GT(turn, 20);
}

/// Who looks sees whole slices of level 0 one after the other, and gives them a truth and scores.
TEST(TensorCanvas, OfLevel0WhoLooksGivesTruthAndScores) {
  const CanvasCase of = cases()[1];
  std::map<std::uint32_t, std::int64_t> next;
  PartUse use{.truth = true, .score_rows = 1};
  use.look = [&](PartTensors& slices) {
    EXPECT_FALSE(slices.truth.defined());
    EXPECT_EQ(slices.first, next[slices.image]);
    next[slices.image] += slices.predicted.size(0);
    slices.truth = slices.predicted.add(10);
    slices.scores = slices.predicted.add(20).unsqueeze(1);
  };
  const auto parts = on_tensors_at_level0(of, 2, 0, use);
  EXPECT_EQ(next.size(), 3u);
  EXPECT_EQ(parts.size(), static_cast<std::size_t>(next[1] + next[3] + next[5]));
  for (const StitchedPart& part : parts) {
    ASSERT_TRUE(part.probabilities.empty());
    for (std::size_t i = 0; i < part.predicted.size(); ++i) {
      ASSERT_EQ(part.truth[i], part.predicted[i] + 10);
      ASSERT_EQ(part.scores[i], part.predicted[i] + 20);
    }
  }
}

/// A GPU would be waited for where an operation gives the host a number.
TEST(TensorCanvas, GivesTheHostNoNumberWhileItWorks) {
  const CanvasCase of = cases()[2];
  const model::fixtures::WatchedOperations watch;
  std::vector<StitchedPart> parts;
  stitch_there(of, {.truth = true}, into(parts), 2);
  EXPECT_FALSE(parts.empty());
  EXPECT_EQ(watch.host_reads(), 0);
  EXPECT_FALSE(on_tensors_at_level0(cases()[1], 2, 0, {}).empty());
  EXPECT_EQ(watch.host_reads(), 0);
  EXPECT_EQ(watch.waits_for_copies(), 0);
  EXPECT_GT(watch.count("aten::mul_"), 10) << "the watch sees nothing";
  EXPECT_GT(watch.count("aten::index_select"), 10) << "the watch sees nothing";
}

TEST(LateParts, ComeInTheirOrderAndLateButNeverTooMany) {
  std::vector<std::int64_t> at;
  LateParts late([&](StitchedPart& part) { at.push_back(part.at); }, 100);
  const auto put = [&](std::int64_t first, bool covered) {
    LateParts::Parts parts{1, first, 2, 10, covered};
    if (covered) parts.predicted = at::full({2, 10}, 3, at::kByte);
    late.put(std::move(parts));
    late.deliver();
  };
  for (std::int64_t first = 0; first < 10; first += 2) put(first, true);  // 20 bytes each
  EXPECT_TRUE(at.empty());
  put(10, false);
  put(12, true);  // 120 bytes: the oldest is given
  EXPECT_EQ(at, (std::vector<std::int64_t>{0, 1}));
  late.finish();
  EXPECT_EQ(at, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}));
}

TEST(LateParts, AreNotChangedByWhatBecomesOfTheirTensors) {
  std::vector<StitchedPart> parts;
  LateParts late(into(parts));
  at::Tensor ring = at::full({3, 8}, 7, at::kByte);
  LateParts::Parts own{0, 4, 1, 6, true, 2};
  own.predicted = ring.narrow(0, 1, 1).narrow(1, 2, 3);
  late.put(own);
  ring.fill_(9);
  late.finish();
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].predicted, (std::vector<std::uint8_t>{255, 255, 7, 7, 7, 255}));
  EXPECT_EQ(parts[0].at, 4);
}

}  // namespace
}  // namespace headrace::inference
