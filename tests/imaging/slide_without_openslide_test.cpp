#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "headrace/imaging/slide/slide_reader.hpp"
#include "headrace/imaging/tiff/encoded_tiles.hpp"
#include "headrace/imaging/tiff/tiff_directory.hpp"
#include "headrace/storage/open_store.hpp"
#include "tests/imaging/sample_files.hpp"

namespace headrace::imaging {
namespace {

using testing::HasSubstr;

/// An object that is no file of this machine, as those of an object store: OpenSlide can't open it.
class FarObject : public storage::Object {
 public:
  explicit FarObject(const std::string& path) : near_(storage::open_input(path)) {}
  std::uint64_t size_bytes() const override { return near_->size_bytes(); }
  std::string describe() const override { return "far://" + near_->describe(); }
  void read(std::uint64_t offset, std::span<std::byte> dst) const override {
    near_->read(offset, dst);
  }

 private:
  std::shared_ptr<const storage::Object> near_;
};

std::unique_ptr<SlideReader> open_far(const std::string& path) {
  return SlideReader::open(std::make_shared<FarObject>(path));
}

std::vector<std::uint8_t> whole(const SlideReader& slide, int level) {
  const SlideLevel& size = slide.info().levels[static_cast<std::size_t>(level)];
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(size.height * size.width * 3), 7);
  slide.read(level, 0, 0, size.height, size.width, pixels.data(), size.width * 3);
  return pixels;
}

bool is_jpeg2000(const std::string& name) { return name.find("TCGA-CR-7395") != name.npos; }

/// Versions of OpenJPEG (ours and that in OpenSlide) round a few values of lossy JPEG 2000 otherwise.
void expect_same_pixels(const std::vector<std::uint8_t>& far, const std::vector<std::uint8_t>& near,
                        bool lossy_jpeg2000) {
  ASSERT_EQ(far.size(), near.size());
  std::size_t others = 0;
  int most = 0;
  for (std::size_t i = 0; i < far.size(); ++i) {
    most = std::max(most, std::abs(far[i] - near[i]));
    others += far[i] != near[i];
  }
  EXPECT_LE(most, lossy_jpeg2000 ? 1 : 0);
  EXPECT_LE(others, lossy_jpeg2000 ? far.size() / 1000000 : 0);
}

void expect_same_facts(const SlideInfo& far, const SlideInfo& near) {
  ASSERT_EQ(far.levels.size(), near.levels.size());
  for (std::size_t k = 0; k < near.levels.size(); ++k) {
    EXPECT_EQ(far.levels[k].height, near.levels[k].height);
    EXPECT_EQ(far.levels[k].width, near.levels[k].width);
    EXPECT_DOUBLE_EQ(far.levels[k].downsample, near.levels[k].downsample);
  }
  EXPECT_EQ(far.mpp_y, near.mpp_y);
  EXPECT_EQ(far.mpp_x, near.mpp_x);
  EXPECT_EQ(far.objective_power, near.objective_power);
  EXPECT_EQ(far.icc_profile, near.icc_profile);
  EXPECT_EQ(far.notes, near.notes);
}

TEST(SlideWithoutOpenSlide, SvsTiffAndPicturesHaveTheSameFactsAndPixels) {
  for (const char* name :
       {"slides/CMU-1-Small-Region.svs", "slides/TCGA-CR-7395-01A-01-TS1.svs",
        "slides/derived/cmu-aperio-style-4level.svs", "slides/derived/cmu-bigtiff-deflate-512.tif",
        "slides/derived/cmu-lzw-pred-256.tif", "slides/derived/cmu-zstd-subifd.ome.tif",
        "slides/derived/tcga-jpeg420-256.tif", "tissue/stain_target.png"}) {
    SCOPED_TRACE(name);
    const auto near = SlideReader::open(sample(name));
    const auto far = open_far(sample(name));
    expect_same_facts(far->info(), near->info());
    EXPECT_EQ(far->info().format, near->info().format);
    EXPECT_EQ(far->encoded_tiles() == nullptr, near->encoded_tiles() == nullptr);
    // From the corner OpenSlide's rounding of places on levels with an uneven downsample is none.
    for (int level = 0; level < static_cast<int>(near->info().levels.size()); ++level)
      expect_same_pixels(whole(*far, level), whole(*near, level), is_jpeg2000(name));
  }
}

TEST(SlideWithoutOpenSlide, GoldenWindowsOfLevelZeroAreTheSame) {
  int windows = 0;
  for (const Json& entry : golden()["slides"]) {
    const std::string format = entry["format"];
    if (format != "aperio" && format != "generic-tiff" && format != "tiff") continue;
    if (is_jpeg2000(entry["file"])) continue;
    const auto slide = open_far(sample(entry["file"]));
    for (const Json& w : entry["windows"]) {
      if (w["level"] != 0) continue;
      const std::int64_t height = w["height"], width = w["width"];
      std::vector<std::uint8_t> pixels(static_cast<std::size_t>(height * width * 3), 7);
      slide->read(0, w["y"], w["x"], height, width, pixels.data(), width * 3);
      EXPECT_EQ(sha_of(pixels), w["sha256"]) << entry["file"] << " " << w.dump();
      ++windows;
    }
  }
  EXPECT_GE(windows, 10);
}

TEST(SlideWithoutOpenSlide, APixelSizeThatNoScanHasIsNotedByBoth) {
  const TempFolder folder;
  std::string bytes = file_text(sample("slides/CMU-1-Small-Region.svs"));
  const std::string stated = "MPP = 0.4990";
  const auto at = bytes.find(stated);
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, stated.size(), "MPP = 4990.0");
  const std::string path = folder.write("large.svs", bytes);
  const auto near = SlideReader::open(path), far = open_far(path);
  EXPECT_FALSE(near->info().mpp_x || far->info().mpp_x);
  const std::vector<Note> expected{make_note(NoteCode::pixel_size_ignored, {4990, 4990})};
  EXPECT_EQ(near->info().notes, expected);
  EXPECT_EQ(far->info().notes, expected);
}

TEST(SlideWithoutOpenSlide, OtherScannersFormatsSayWhatReadsThem) {
  for (const char* name : {"slides/hamamatsu-DAPI-387.ndpi", "slides/dicom-bone-jpeg.dcm"}) {
    const Error error = thrown_by([&] { open_far(sample(name)); });
    EXPECT_EQ(error.code(), ErrorCode::unsupported) << name;
    EXPECT_THAT(error.what(), HasSubstr("copy the slide to a folder")) << name;
  }
}

TEST(SlideWithoutOpenSlide, ASmallerLevelThatLacksATileIsLeftOutAndNoted) {
  const TempFolder folder;
  const std::string name = sample("slides/derived/cmu-aperio-style-4level.svs");
  bool damaged = false;
  const auto directories = read_whole_tiff_directories(*storage::open_input(name), damaged);
  ASSERT_EQ(directories.size(), 4u);
  const TiffDirectory& level1 = directories[1];
  std::string bytes = file_text(name);
  // The byte counts of level 1 stand side by side in the file; its second becomes 0.
  std::string counts;
  for (const std::uint32_t count : level1.tile_bytes)
    counts.append(reinterpret_cast<const char*>(&count), 4);
  const auto at = bytes.find(counts);
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at + 4, 4, std::string(4, '\0'));
  const std::string path = folder.write("lacks.svs", bytes);
  const auto near = SlideReader::open(path), far = open_far(path);
  EXPECT_EQ(near->info().levels.size(), 4u);
  EXPECT_TRUE(near->info().notes.empty());
  ASSERT_EQ(far->info().levels.size(), 3u);
  ASSERT_EQ(far->info().notes.size(), 1u);
  EXPECT_EQ(far->info().notes[0],
            make_note(NoteCode::pages_left_out,
                      {1, static_cast<double>(level1.height), static_cast<double>(level1.width)}));
  EXPECT_EQ(far->info().levels[1].height, directories[2].height);
  EXPECT_TRUE(whole(*far, 0) == whole(*near, 0));
  EXPECT_TRUE(whole(*far, 1) == whole(*near, 2));
}

}  // namespace
}  // namespace headrace::imaging
