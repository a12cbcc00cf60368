#include "learn/result/result_writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>

#include "headrace/core/read_file.hpp"
#include "tests/core/error_of.hpp"
#include "tests/imaging/sample_files.hpp"

namespace headrace::result {
namespace {

using imaging::TempFolder;
using Plane = std::vector<std::uint8_t>;

constexpr std::int64_t kHeight = 1101, kWidth = 1303;

ImageFacts facts_of_slide() {
  ImageFacts facts;
  facts.id = facts.case_id = "s";
  facts.task = "segmentation";
  facts.classes = {"background", "benign", "tumour"};
  facts.networks = {{"run", "final", "aa", "bb", "cc", "0.1.0"}};
  facts.slide = SlideMap{kHeight, kWidth, 2.0, {8, 8}, kHeight * 8, kWidth * 8};
  return facts;
}

/// Blocks of classes, some of them not predicted, with single pixels of others strewn in.
Plane random_map() {
  std::mt19937 random(7);
  Plane out(kHeight * kWidth);
  for (std::int64_t y = 0; y < kHeight; ++y) {
    for (std::int64_t x = 0; x < kWidth; ++x) {
      const std::array<std::uint8_t, 4> values{0, 1, 2, kNotPredicted};
      const auto block = static_cast<std::size_t>((y / 37 + x / 41) % 4);
      out[static_cast<std::size_t>(y * kWidth + x)] =
          values[random() % 5 == 0 ? random() % 4 : block];
    }
  }
  return out;
}

/// The next level by its definition: the most frequent class of up to four pixels, of equals the
/// highest, and 255 only where there is no class.
Plane halved(const Plane& fine, std::int64_t height, std::int64_t width) {
  Plane out;
  for (std::int64_t y = 0; y < height; y += 2) {
    for (std::int64_t x = 0; x < width; x += 2) {
      std::map<std::uint8_t, int> counts;
      for (std::int64_t dy = 0; dy < 2; ++dy) {
        for (std::int64_t dx = 0; dx < 2; ++dx) {
          const std::int64_t row = std::min(y + dy, height - 1),
                             column = std::min(x + dx, width - 1);
          ++counts[fine[static_cast<std::size_t>(row * width + column)]];
        }
      }
      counts.erase(kNotPredicted);
      std::uint8_t best = kNotPredicted;
      for (const auto& [value, count] : counts)
        if (best == kNotPredicted || count >= counts[best]) best = value;
      out.push_back(best);
    }
  }
  return out;
}

Plane read_level(const ImageResult& result, std::size_t level) {
  const auto array = result.classes(level);
  const auto& shape = array->metadata().shape;
  Plane out(static_cast<std::size_t>(shape[0] * shape[1]));
  array->read({{0, 0}, shape, reinterpret_cast<std::byte*>(out.data()), {shape[1], 1}, {}});
  return out;
}

void write_map(ResultWriter& writer, const Plane& map, std::int64_t rows) {
  std::vector<std::uint8_t> probabilities(3 * kWidth);
  for (std::int64_t y = 0; y < rows; ++y) {
    for (std::size_t i = 0; i < probabilities.size(); ++i)
      probabilities[i] = static_cast<std::uint8_t>((i * 7 + static_cast<std::size_t>(y)) % 256);
    writer.add(std::span(map).subspan(static_cast<std::size_t>(y * kWidth), kWidth), probabilities);
  }
}

TEST(ResultWriter, EveryLevelOfASlideIsTheMostFrequentClassOfTheOneBefore) {
  const TempFolder folder;
  const Plane map = random_map();
  ResultWriter writer(folder / "s", facts_of_slide());
  write_map(writer, map, kHeight);
  writer.finish({{"slide", nullptr}});
  const ImageResult result = ImageResult::open(folder / "s");
  ASSERT_EQ(result.levels(), 3u);  // 1303, 652, 326: the first that fits 512
  Plane expected = map;
  std::int64_t height = kHeight, width = kWidth;
  for (std::size_t level = 0; level < 3; ++level) {
    EXPECT_EQ(read_level(result, level), expected) << "level " << level;
    expected = halved(expected, height, width);
    height = (height + 1) / 2;
    width = (width + 1) / 2;
  }
  Plane probability(3 * kWidth);
  result.probability()->read({{0, 1000, 0},
                              {3, 1, kWidth},
                              reinterpret_cast<std::byte*>(probability.data()),
                              {kWidth, kWidth, 1},
                              {}});
  for (std::size_t i = 0; i < probability.size(); ++i)
    ASSERT_EQ(probability[i], (i * 7 + 1000) % 256) << i;
  EXPECT_EQ(result.facts().to_json(), facts_of_slide().to_json());
  EXPECT_EQ(result.lesions(), nullptr);
}

/// Pixels of the map are 8 of the slide's, 0.25 µm wide: the first of level k covers 8 · 2^k of
/// them, so its centre lies (8 · 2^k - 1) / 2 of them from that of the slide's first.
TEST(ResultWriter, EveryLevelOfASlideBeginsAtTheSlidesEdge) {
  const TempFolder folder;
  ResultWriter writer(folder / "s", facts_of_slide());
  write_map(writer, random_map(), kHeight);
  writer.finish({{"slide", nullptr}});
  const auto places = [&](const char* group) {
    const Json json = parse_json(read_file(folder / group), group);
    Json out = Json::array();
    for (const Json& level : json.at("attributes").at("ome").at("multiscales").at(0).at("datasets"))
      out.push_back(level.at("coordinateTransformations"));
    return out;
  };
  const auto place = [](const std::vector<double>& scale, const std::vector<double>& first) {
    return Json::array({Json{{"type", "scale"}, {"scale", scale}},
                        Json{{"type", "translation"}, {"translation", first}}});
  };
  EXPECT_EQ(places("s/labels/classes/zarr.json"),
            Json::array({place({2, 2}, {0.875, 0.875}), place({4, 4}, {1.875, 1.875}),
                         place({8, 8}, {3.875, 3.875})}));
  EXPECT_EQ(places("s/zarr.json"), Json::array({place({1, 2, 2}, {0, 0.875, 0.875})}));
}

TEST(ImageFacts, StateTheMapOfASlideOrAVolume) {
  ImageFacts facts = facts_of_slide();
  facts.slide.reset();
  const std::string text = error_of(
      ErrorCode::malformed, [&] { ImageFacts::from_json(facts.to_json(), "here/zarr.json"); });
  EXPECT_NE(text.find("here/zarr.json: states the map of neither"), std::string::npos) << text;
  facts.volume.emplace();
  facts.volume->voxels_sha256 = "0123";
  Json json = facts.to_json();
  EXPECT_EQ(ImageFacts::from_json(json, "").volume->voxels_sha256, "0123");
  json["volume"].erase("voxels_sha256");  // a result of before it was stated
  EXPECT_EQ(ImageFacts::from_json(json, "").volume->voxels_sha256, "");
}

TEST(ResultWriter, NothingStaysOfAResultThatIsNotFinished) {
  const TempFolder folder;
  {
    ResultWriter writer(folder / "s", facts_of_slide());
    write_map(writer, random_map(), 600);
    error_of(ErrorCode::internal, [&] { writer.finish({}); });
  }
  EXPECT_TRUE(std::filesystem::is_empty(std::string(folder / "")));
  error_of(ErrorCode::not_found, [&] { ImageResult::open(folder / "s"); });
  error_of(ErrorCode::not_found, [&] { ImageResult::find(folder / ""); });
}

TEST(ResultWriter, AFinishedResultIsNotReplaced) {
  const TempFolder folder;
  const Plane map = random_map();
  {
    ResultWriter writer(folder / "s", facts_of_slide());
    write_map(writer, map, kHeight);
    writer.finish({{"slide", 1}});
  }
  error_of(ErrorCode::usage, [&] { ResultWriter(folder / "s", facts_of_slide()); });
  EXPECT_EQ(ImageResult::open(folder / "s").findings(), Json({{"slide", 1}}));
  EXPECT_EQ(ImageResult::find(folder / "").size(), 1u);
}

}  // namespace
}  // namespace headrace::result
