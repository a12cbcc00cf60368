#include "learn/measure/slide/object_matcher.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace headrace::measure {
namespace {

struct Picture {
  std::size_t height = 0, width = 0;
  std::vector<Membership> truth;
  std::vector<std::uint8_t> predicted;
};

ObjectCounts matched(const Picture& picture, ObjectMatcher& matcher) {
  for (std::size_t y = 0; y < picture.height; ++y) {
    matcher.row({picture.truth.data() + y * picture.width, picture.width},
                {picture.predicted.data() + y * picture.width, picture.width});
  }
  return matcher.finish();
}

/// Component number of each pixel, 0 outside: flood fill over the whole picture.
std::vector<int> components(const Picture& picture, const std::vector<bool>& inside) {
  const auto height = static_cast<std::int64_t>(picture.height),
             width = static_cast<std::int64_t>(picture.width);
  std::vector<int> number(inside.size(), 0);
  int last = 0;
  for (std::size_t start = 0; start < inside.size(); ++start) {
    if (!inside[start] || number[start] != 0) continue;
    std::vector<std::size_t> open{start};
    number[start] = ++last;
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      const auto y = static_cast<std::int64_t>(at) / width,
                 x = static_cast<std::int64_t>(at) % width;
      for (std::int64_t v = std::max<std::int64_t>(0, y - 1); v <= std::min(height - 1, y + 1);
           ++v) {
        for (std::int64_t u = std::max<std::int64_t>(0, x - 1); u <= std::min(width - 1, x + 1);
             ++u) {
          const auto next = static_cast<std::size_t>(v * width + u);
          if (!inside[next] || number[next] != 0) continue;
          number[next] = last;
          open.push_back(next);
        }
      }
    }
  }
  return number;
}

/// The definition of Kirillov et al. over sets of pixels.
ObjectCounts by_definition(const Picture& picture) {
  const std::size_t pixels = picture.truth.size();
  std::vector<bool> truth(pixels), predicted(pixels);
  for (std::size_t i = 0; i < pixels; ++i) {
    truth[i] = picture.truth[i] == Membership::inside;
    predicted[i] = picture.predicted[i] != 0;
  }
  std::map<int, std::set<std::size_t>> true_sets, predicted_sets;
  std::map<int, std::size_t> untold, whole;
  const auto t = components(picture, truth), p = components(picture, predicted);
  for (std::size_t i = 0; i < pixels; ++i) {
    if (t[i] > 0) true_sets[t[i]].insert(i);
    if (p[i] == 0) continue;
    ++whole[p[i]];
    if (picture.truth[i] == Membership::undecided) {
      ++untold[p[i]];
    } else {
      predicted_sets[p[i]].insert(i);
    }
  }
  ObjectCounts counts;
  std::set<int> taken;
  for (const auto& [a, ours] : true_sets) {
    bool found = false;
    for (const auto& [b, theirs] : predicted_sets) {
      std::size_t both = 0;
      for (const std::size_t i : ours) both += theirs.count(i);
      const double iou =
          static_cast<double>(both) / static_cast<double>(ours.size() + theirs.size() - both);
      if (iou <= 0.5) continue;
      found = true;
      taken.insert(b);
      ++counts.matched;
      counts.iou_sum += static_cast<std::uint64_t>(std::llround(iou * 4294967296.0));
    }
    counts.missed += found ? 0 : 1;
  }
  for (const auto& [b, size] : whole) {
    if (!taken.contains(b) && 2 * untold[b] <= size) ++counts.invented;
  }
  return counts;
}

TEST(ObjectMatcher, CountsAsTheDefinitionOverWholePictures) {
  ObjectMatcher matcher;
  std::uint64_t matches = 0, missed = 0, invented = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    Picture picture;
    picture.height = 1 + random() % 24;
    picture.width = 1 + random() % 24;
    const std::size_t pixels = picture.height * picture.width;
    picture.truth.assign(pixels, Membership::outside);
    picture.predicted.assign(pixels, 0);
    const auto box = [&](const auto& paint) {
      const std::size_t y = random() % picture.height, x = random() % picture.width;
      const std::size_t h = 1 + random() % 6, w = 1 + random() % 6;
      for (std::size_t v = y; v < std::min(picture.height, y + h); ++v) {
        for (std::size_t u = x; u < std::min(picture.width, x + w); ++u)
          paint(v * picture.width + u);
      }
    };
    for (unsigned k = random() % 6; k > 0; --k) {
      box([&](std::size_t i) {
        picture.truth[i] = Membership::inside;
        if (k % 3 != 0) picture.predicted[i] = 1;
      });
    }
    for (unsigned k = random() % 3; k > 0; --k)
      box([&](std::size_t i) { picture.predicted[i] ^= 1; });
    for (unsigned k = random() % 3; k > 0; --k)
      box([&](std::size_t i) { picture.truth[i] = Membership::undecided; });
    const ObjectCounts expected = by_definition(picture), found = matched(picture, matcher);
    EXPECT_EQ(found.matched, expected.matched) << seed;
    EXPECT_EQ(found.missed, expected.missed) << seed;
    EXPECT_EQ(found.invented, expected.invented) << seed;
    EXPECT_EQ(found.iou_sum, expected.iou_sum) << seed;
    matches += found.matched;
    missed += found.missed;
    invented += found.invented;
  }
  EXPECT_GT(matches, 100u);
  EXPECT_GT(missed, 100u);
  EXPECT_GT(invented, 100u);
}

TEST(ObjectMatcher, ARingThatClosesLateIsOneStructure) {
  // A U whose arms meet in the last row, predicted as drawn; two pixels that touch by a corner.
  const std::vector<std::string> rows{"#...#...", "#...#..#", "#...#.#.", "#####..."};
  Picture picture{4, 8, {}, {}};
  for (const std::string& row : rows) {
    for (const char c : row) {
      picture.truth.push_back(c == '#' ? Membership::inside : Membership::outside);
      picture.predicted.push_back(c == '#' ? 1 : 0);
    }
  }
  ObjectMatcher matcher;
  const ObjectCounts counts = matched(picture, matcher);
  EXPECT_EQ(counts.matched, 2u);
  EXPECT_EQ(counts.missed + counts.invented, 0u);
  EXPECT_EQ(counts.f1(), 1.0);
  EXPECT_EQ(counts.panoptic_quality(), 1.0);
}

TEST(ObjectCounts, QualityIsOfTheDefinitionAndUndefinedWithoutStructures) {
  EXPECT_FALSE(ObjectCounts{}.f1().has_value());
  EXPECT_FALSE(ObjectCounts{}.panoptic_quality().has_value());
  const ObjectCounts missed{0, 3, 0, 0};
  EXPECT_EQ(missed.f1(), 0.0);
  EXPECT_EQ(missed.panoptic_quality(), 0.0);
  EXPECT_FALSE(missed.segmentation_quality().has_value());
  // Two matches of IoU 3/4 and 1, one missed, two invented: SQ 7/8, RQ 2 / 3.5.
  const std::uint64_t one = std::uint64_t{1} << 32;
  const ObjectCounts some{2, 1, 2, one + one / 4 * 3};
  EXPECT_DOUBLE_EQ(some.segmentation_quality().value(), 0.875);
  EXPECT_DOUBLE_EQ(some.f1().value(), 4.0 / 7);
  EXPECT_DOUBLE_EQ(some.panoptic_quality().value(), 0.875 * 4 / 7);
}

}  // namespace
}  // namespace headrace::measure
