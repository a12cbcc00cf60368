#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headrace/core/read_file.hpp"
#include "headrace/imaging/label_reader.hpp"
#include "learn/handover/findings_table.hpp"
#include "learn/handover/slide/class_map_tiff.hpp"
#include "learn/handover/slide/qupath_geojson.hpp"
#include "learn/result/result_writer.hpp"
#include "tests/core/error_of.hpp"
#include "tests/imaging/sample_files.hpp"
#include "tests/learn/handover/slide_by_hand.hpp"

namespace headrace::handover {
namespace {

using imaging::TempFolder;
using ::testing::HasSubstr;

/// The prediction by hand as a result folder; pixels without a prediction have no probability.
result::ImageResult written(const std::string& folder, PredictedSlide& slide, const HandMap& map) {
  slide.probability = [map, read = slide.probability](std::int64_t y0, std::int64_t rows,
                                                      std::uint8_t* dst) {
    read(y0, rows, dst);
    for (std::int64_t i = 0; i < rows * 4 * map.width; ++i) {
      if (map.at(y0 + i / (4 * map.width), i % map.width) == result::kNotPredicted) dst[i] = 0;
    }
  };
  const auto width = static_cast<std::size_t>(map.width);
  std::vector<std::uint8_t> scores(4 * width);
  result::ResultWriter writer(folder, slide.facts);
  for (std::int64_t y = 0; y < map.height; ++y) {
    slide.probability(y, 1, scores.data());
    writer.add(std::span(map.classes).subspan(static_cast<std::size_t>(y) * width, width), scores);
  }
  writer.put_text("regions.csv", "number,class\n1,benign\n");
  writer.finish({{"slide", {{"regions", {{"least_pixels", 5}}}}}});
  return result::ImageResult::open(folder);
}

TEST(SlideResult, ExportsAreThoseOfItsMaps) {
  const TempFolder folder;
  const HandMap map = blobs(620, 700);
  PredictedSlide slide = slide_of(map);
  slide.least_listed_px = 5;
  const result::ImageResult result = written(folder / "r", slide, map);
  const GeojsonOptions options{.tolerance_um = 2, .min_area_mm2 = 0};
  write_qupath_geojson(slide, folder / "hand.geojson", options);
  write_qupath_geojson(result, folder / "r.geojson", options);
  EXPECT_EQ(read_file(folder / "r.geojson"), read_file(folder / "hand.geojson"));

  ThreadPool pool(2);
  write_class_map_tiff(result, folder / "r.ome.tif", pool);
  const auto reader = imaging::LabelReader::open(folder / "r.ome.tif");
  std::vector<std::uint16_t> values(map.classes.size());
  reader->read(0, 0, map.height, map.width, values.data(), map.width);
  EXPECT_TRUE(std::equal(values.begin(), values.end(), map.classes.begin()));

  write_findings_table(result, "regions.csv", folder / "r.csv");
  EXPECT_EQ(read_file(folder / "r.csv"), "number,class\n1,benign\n");
  std::filesystem::remove(std::filesystem::path(folder / "r") / "regions.csv");
  EXPECT_THAT(error_of(ErrorCode::not_found,
                       [&] { write_findings_table(result, "regions.csv", folder / "q.csv"); }),
              HasSubstr("regions.csv: not there"));
}

}  // namespace
}  // namespace headrace::handover
