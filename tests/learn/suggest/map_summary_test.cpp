#include "learn/suggest/map_summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "learn/result/result_writer.hpp"
#include "tests/imaging/sample_files.hpp"

namespace headrace::suggest {
namespace {

using imaging::TempFolder;

constexpr std::size_t kClasses = 3;

/// A prediction in memory: probabilities (class, pixel) in bytes, and the class map.
struct Maps {
  std::array<std::int64_t, 3> shape_zyx{};
  std::vector<std::uint8_t> classes, bytes;

  std::size_t pixels() const { return classes.size(); }
};

/// Random, the more certain the further from the middle; one part in five was not predicted.
Maps random_maps(const std::array<std::int64_t, 3>& shape) {
  std::mt19937 random(5);
  Maps maps{shape, {}, {}};
  const auto count = static_cast<std::size_t>(shape[0] * shape[1] * shape[2]);
  maps.bytes.resize(kClasses * count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto block = i / 97 % 50;
    const auto first = static_cast<std::uint8_t>(255 - random() % (1 + 3 * block));
    const auto second = static_cast<std::uint8_t>(random() % (256 - first));
    const bool predicted = block % 5 != 0;
    maps.classes.push_back(predicted ? static_cast<std::uint8_t>(random() % kClasses) : 255);
    if (!predicted) continue;
    maps.bytes[i] = first;
    maps.bytes[count + i] = second;
    maps.bytes[2 * count + i] = static_cast<std::uint8_t>(255 - first - second);
  }
  return maps;
}

result::ImageFacts facts_of(const Maps& maps, bool volume) {
  result::ImageFacts facts;
  facts.id = facts.case_id = "s";
  facts.task = "segmentation";
  facts.classes = {"background", "benign", "tumour"};
  facts.networks = {{"run", "final", "aa", "bb", "cc", "0.1.0"}};
  const auto [z, y, x] = maps.shape_zyx;
  if (volume) {
    facts.volume.emplace();
    facts.volume->grid = imaging::VolumeGrid::of(maps.shape_zyx, {0.8, 0.8, 2.5}, {0, 0, 0},
                                                 {1, 0, 0, 0, 1, 0, 0, 0, 1});
  } else {
    facts.slide = result::SlideMap{y, x, 2.0, {8, 8}, y * 8, x * 8};
  }
  return facts;
}

result::ImageResult written(const std::filesystem::path& folder, const Maps& maps, bool volume) {
  result::ResultWriter writer(folder, facts_of(maps, volume));
  const std::int64_t parts = volume ? maps.shape_zyx[0] : maps.shape_zyx[1];
  const std::size_t size = maps.pixels() / static_cast<std::size_t>(parts);
  std::vector<std::uint8_t> probabilities(kClasses * size);
  for (std::size_t part = 0; part < static_cast<std::size_t>(parts); ++part) {
    for (std::size_t c = 0; c < kClasses; ++c) {
      for (std::size_t i = 0; i < size; ++i)
        probabilities[c * size + i] = maps.bytes[c * maps.pixels() + part * size + i];
    }
    writer.add(std::span(maps.classes).subspan(part * size, size), probabilities);
  }
  writer.finish({{volume ? "volume" : "slide", nullptr}});
  return result::ImageResult::open(folder);
}

double entropy_of(const Maps& maps, std::size_t pixel) {
  double bits = 0;
  for (std::size_t c = 0; c < kClasses; ++c) {
    const double p = maps.bytes[c * maps.pixels() + pixel] / 255.0;
    if (p > 0) bits -= p * std::log2(p);
  }
  return bits / std::log2(static_cast<double>(kClasses));
}

/// The mean of the greatest tenth, each pixel having the mean entropy of its cell.
double tail_of(const Maps& maps, const std::array<std::int64_t, 3>& edges) {
  std::map<std::array<std::int64_t, 3>, std::vector<double>> cells;
  const auto [depth, height, width] = maps.shape_zyx;
  for (std::size_t i = 0; i < maps.pixels(); ++i) {
    if (maps.classes[i] == 255) continue;
    const auto at = static_cast<std::int64_t>(i);
    cells[{at / (height * width) / edges[0], at / width % height / edges[1], at % width / edges[2]}]
        .push_back(entropy_of(maps, i));
  }
  std::vector<double> all;
  for (const auto& [place, values] : cells) {
    double sum = 0;
    for (const double value : values) sum += value;
    all.insert(all.end(), values.size(), sum / static_cast<double>(values.size()));
  }
  std::sort(all.begin(), all.end(), std::greater<>());
  const std::size_t tail = (all.size() + 9) / 10;
  double sum = 0;
  for (std::size_t k = 0; k < tail; ++k) sum += all[k];
  return sum / static_cast<double>(tail);
}

void expect_counts(const MapSummary& summary, const Maps& maps) {
  std::vector<std::uint64_t> classes(kClasses);
  std::vector<std::array<std::uint64_t, kProbabilityBins>> bins(kClasses);
  std::uint64_t predicted = 0;
  for (std::size_t i = 0; i < maps.pixels(); ++i) {
    if (maps.classes[i] == 255) continue;
    ++predicted;
    ++classes[maps.classes[i]];
    for (std::size_t c = 0; c < kClasses; ++c) ++bins[c][maps.bytes[c * maps.pixels() + i] / 32];
  }
  EXPECT_EQ(summary.predicted, predicted);
  EXPECT_EQ(summary.class_px, classes);
  EXPECT_EQ(summary.probability_px, bins);
}

TEST(MapSummary, OfASlideOfSeveralChunks) {
  const TempFolder folder;
  const Maps maps = random_maps({1, 700, 1101});
  const MapSummary summary = summarise_maps(written(folder / "s", maps, false));
  expect_counts(summary, maps);
  EXPECT_NEAR(summary.tail_entropy, tail_of(maps, {1, 32, 32}), 1e-5);
  EXPECT_GT(summary.tail_entropy, 0.3);
}

TEST(MapSummary, OfAVolumeHasCellsOfEqualEdgesInMillimetres) {
  const TempFolder folder;
  const Maps maps = random_maps({40, 150, 141});
  const auto image = written(folder / "v", maps, true);
  EXPECT_EQ(cell_edges(image.facts()), (std::array<std::int64_t, 3>{5, 16, 16}));
  const MapSummary summary = summarise_maps(image);
  expect_counts(summary, maps);
  EXPECT_NEAR(summary.tail_entropy, tail_of(maps, {5, 16, 16}), 1e-5);
}

TEST(MapSummary, TheMostUncertainPlace) {
  const TempFolder folder;
  Maps maps{{1, 100, 130}, std::vector<std::uint8_t>(13000, 0), std::vector<std::uint8_t>(39000)};
  std::fill_n(maps.bytes.begin(), 13000, 255);
  for (std::size_t y = 64; y < 96; ++y) {
    for (std::size_t x = 96; x < 128; ++x) {
      for (std::size_t c = 0; c < kClasses; ++c) maps.bytes[c * 13000 + y * 130 + x] = 85;
    }
  }
  const MapSummary summary = summarise_maps(written(folder / "s", maps, false));
  ASSERT_TRUE(summary.uncertain_zyx.has_value());
  EXPECT_EQ(*summary.uncertain_zyx, (std::array<double, 3>{0, 79.5, 111.5}));
  EXPECT_NEAR(summary.tail_entropy, 1024.0 / 1300, 1e-3);  // the tenth has certain pixels too
}

TEST(MapSummary, WhereNothingWasPredicted) {
  const TempFolder folder;
  const Maps maps{
      {1, 40, 50}, std::vector<std::uint8_t>(2000, 255), std::vector<std::uint8_t>(6000)};
  const MapSummary summary = summarise_maps(written(folder / "s", maps, false));
  EXPECT_EQ(summary.predicted, 0u);
  EXPECT_EQ(summary.tail_entropy, 0);
  EXPECT_FALSE(summary.uncertain_zyx.has_value());
}

}  // namespace
}  // namespace headrace::suggest
