#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headrace/core/read_file.hpp"
#include "headrace/imaging/slide/slide_reader.hpp"
#include "headrace/imaging/tiff/tiff_directory.hpp"
#include "headrace/imaging/tiff/tiff_image.hpp"
#include "headrace/imaging/tiff/tiff_pixel_size.hpp"
#include "headrace/pixels/palette.hpp"
#include "headrace/storage/open_store.hpp"
#include "learn/handover/slide/class_map_tiff.hpp"
#include "learn/handover/slide/ome_xml.hpp"
#include "tests/imaging/sample_files.hpp"
#include "tests/learn/handover/slide_by_hand.hpp"

namespace headrace::handover {
namespace {

using imaging::TempFolder;
using ::testing::HasSubstr;

TEST(ClassMapTiff, LevelsValuesColoursAndPixelSizeComeBack) {
  const TempFolder folder;
  const HandMap map = blobs(613, 1100);
  ThreadPool pool(2);
  write_class_map_tiff(slide_of(map), folder / "c.ome.tif", pool);
  const auto file = storage::open_input(folder / "c.ome.tif");
  const auto levels = imaging::read_tiff_pyramid(*file);
  ASSERT_EQ(levels.size(), 5u);
  HandMap level = map;
  for (std::size_t k = 0; k < levels.size(); ++k, level = halved(level)) {
    ASSERT_EQ(levels[k].height, level.height);
    ASSERT_EQ(levels[k].width, level.width);
    EXPECT_EQ(levels[k].subfile_type, k == 0 ? 0u : 1u);
    const auto image = imaging::TiffImage::open(file, levels[k].at);
    const double mpp = 2.0 * static_cast<double>(1 << k);
    if (mpp <= 20) {  // above, no reader of ours takes a density for a pixel size
      EXPECT_NEAR(imaging::tiff_pixel_size(levels[k], {}).mpp_x.value(), mpp, 1e-5);
    }
    EXPECT_EQ(image->info().photometric, 3);
    std::vector<std::uint16_t> values(static_cast<std::size_t>(level.height * level.width));
    image->read_first_sample(0, 0, level.height, level.width, values.data(), level.width);
    EXPECT_TRUE(std::equal(values.begin(), values.end(), level.classes.begin()));
  }
  std::uint8_t rgb[3] = {};
  const auto image = imaging::TiffImage::open(storage::open_input(folder / "c.ome.tif"));
  image->read_rgb(0, 0, 1, 1, rgb, 3);
  EXPECT_THAT(rgb, ::testing::Each(255));  // not predicted
  const auto at = std::find(map.classes.begin(), map.classes.end(), 3) - map.classes.begin();
  image->read_rgb(at / map.width, at % map.width, 1, 1, rgb, 3);
  EXPECT_THAT(rgb, ::testing::ElementsAreArray(pixels::class_colour(3)));
}

TEST(ClassMapTiff, TheSameBytesForAnyNumberOfThreads) {
  const TempFolder folder;
  const PredictedSlide slide = slide_of(blobs(600, 1100));
  for (const int threads : {1, 4}) {
    ThreadPool pool(threads);
    write_class_map_tiff(slide, folder / std::to_string(threads), pool);
  }
  EXPECT_EQ(read_file(folder / "1"), read_file(folder / "4"));
}

TEST(ClassMapTiff, WithoutAPixelSizeNoneIsStated) {
  const TempFolder folder;
  PredictedSlide slide = slide_of(blobs(40, 50));
  slide.facts.slide->mpp = 0;
  ThreadPool pool(1);
  write_class_map_tiff(slide, folder / "c.ome.tif", pool);
  EXPECT_FALSE(imaging::SlideReader::open(folder / "c.ome.tif")->info().mpp_x);
  EXPECT_THAT(read_file(folder / "c.ome.tif"), ::testing::Not(HasSubstr("PhysicalSize")));
}

TEST(OmeXml, NamesTheClassesAndEscapesThem) {
  const std::string xml = ome_xml({"a<b", 3, 5, 0.5, {"background", "x & \"y\"\n"}});
  EXPECT_THAT(xml, HasSubstr("Name=\"a&lt;b\""));
  EXPECT_THAT(xml, HasSubstr("SizeX=\"5\" SizeY=\"3\""));
  EXPECT_THAT(xml, HasSubstr("PhysicalSizeX=\"0.5\" PhysicalSizeY=\"0.5\""));
  EXPECT_THAT(xml, HasSubstr("<M K=\"1\">x &amp; &quot;y&quot; </M>"));
  EXPECT_THAT(xml, HasSubstr("<M K=\"255\">not predicted</M>"));
  EXPECT_THAT(xml, HasSubstr("<M K=\"1\">" + pixels::css(pixels::class_colour(1)) + "</M>"));
}

}  // namespace
}  // namespace headrace::handover
