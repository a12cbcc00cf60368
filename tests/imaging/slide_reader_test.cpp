#include "headrace/imaging/slide/slide_reader.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <thread>

#include "headrace/imaging/tiff/encoded_tiles.hpp"
#include "headrace/imaging/tiff/tiff_directory.hpp"
#include "headrace/storage/open_store.hpp"
#include "tests/imaging/sample_files.hpp"

namespace headrace::imaging {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

std::vector<std::uint8_t> read(const SlideReader& slide, int level, std::int64_t y, std::int64_t x,
                               std::int64_t h, std::int64_t w) {
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(h * w * 3), 7);
  slide.read(level, y, x, h, w, pixels.data(), w * 3);
  return pixels;
}

/// A window from the corner of a level by read_rgba, which is OpenSlide's for lossy JPEG 2000.
std::vector<std::uint8_t> read_by_openslide(const SlideReader& slide, const Json& window) {
  const std::int64_t height = window["height"], width = window["width"];
  std::vector<std::uint8_t> rgba(static_cast<std::size_t>(height * width * 4)), rgb;
  slide.read_rgba(window["level"], window["y"], window["x"], height, width, rgba.data());
  for (std::size_t i = 0; i < rgba.size(); i += 4) rgb.insert(rgb.end(), &rgba[i], &rgba[i] + 3);
  return rgb;
}

TEST(SlideReader, EveryLevelAndWindowIsAsOpenSlideAndTifffileReadIt) {
  for (const Json& entry : golden()["slides"]) {
    const auto slide = SlideReader::open(sample(entry["file"]));
    for (const Json& w : entry["windows"]) {
      SCOPED_TRACE(fmt::format("{} {}", entry["file"].dump(), w.dump()));
      const auto pixels = read(*slide, w["level"], w["y"], w["x"], w["height"], w["width"]);
      if (sha_of(pixels) == w["sha256"]) continue;
      // Versions of OpenJPEG (ours and that in OpenSlide) round a few values otherwise.
      ASSERT_EQ(entry["file"], "slides/TCGA-CR-7395-01A-01-TS1.svs");
      const auto theirs = read_by_openslide(*slide, w);
      ASSERT_EQ(sha_of(theirs), w["sha256"]);
      std::size_t others = 0;
      for (std::size_t i = 0; i < pixels.size(); ++i) {
        ASSERT_LE(std::abs(pixels[i] - theirs[i]), 1);
        others += pixels[i] != theirs[i];
      }
      EXPECT_LE(others, pixels.size() / 1000000);
    }
  }
}

TEST(SlideReader, SaysLevelsPixelSizePowerAndProfileAsOpenSlideDoes) {
  for (const Json& entry : golden()["slides"]) {
    const auto slide = SlideReader::open(sample(entry["file"]));
    const SlideInfo& info = slide->info();
    EXPECT_EQ(info.format, entry["format"]) << entry["file"];
    ASSERT_EQ(info.levels.size(), entry["levels"].size()) << entry["file"];
    for (std::size_t i = 0; i < info.levels.size(); ++i) {
      EXPECT_EQ(Json({info.levels[i].height, info.levels[i].width}), entry["levels"][i])
          << entry["file"];
    }
    EXPECT_EQ(info.icc_profile.size(), entry["icc_bytes"]) << entry["file"];
    EXPECT_EQ(info.objective_power.has_value(), !entry["objective_power"].is_null())
        << entry["file"];
    if (!entry["mpp_x"].is_null()) {
      ASSERT_TRUE(info.mpp_x && info.mpp_y) << entry["file"];
      EXPECT_DOUBLE_EQ(*info.mpp_x, std::stod(entry["mpp_x"].get<std::string>()));
      EXPECT_DOUBLE_EQ(*info.mpp_y, std::stod(entry["mpp_y"].get<std::string>()));
    }
  }
}

TEST(SlideReader, TakesThePixelSizeFromOmeXmlWhereTheTagsHaveNone) {
  const auto slide = SlideReader::open(sample("slides/derived/cmu-zstd-subifd.ome.tif"));
  EXPECT_EQ(slide->info().mpp_x, 0.5);
  EXPECT_EQ(slide->info().mpp_y, 0.5);
}

TEST(SlideReader, SamePixelsInThreeTiffCodecs) {
  const char* names[] = {"cmu-lzw-pred-256.tif", "cmu-bigtiff-deflate-512.tif",
                         "cmu-zstd-subifd.ome.tif"};
  std::vector<std::string> hashes;
  for (const char* name : names) {
    const auto slide = SlideReader::open(sample(std::string("slides/derived/") + name));
    const auto& level = slide->info().levels[0];
    hashes.push_back(sha_of(read(*slide, 0, 0, 0, level.height, level.width)));
  }
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[0], hashes[2]);
}

TEST(SlideReader, PlainImagesAreSlides) {
  for (const Json& entry : golden()["images"]) {
    const auto slide = SlideReader::open(sample(entry["file"]));
    // One of them has its halves in SubIFDs.
    ASSERT_EQ(slide->info().levels.size(),
              entry["file"] == "odd/tiff/pillow-child_ifd.tiff" ? 3u : 1u);
    const auto& level = slide->info().levels[0];
    EXPECT_EQ(sha_of(read(*slide, 0, 0, 0, level.height, level.width)), entry["sha256"])
        << entry["file"];
  }
}

TEST(SlideReader, OutsideIsWhite) {
  for (const char* name :
       {"slides/CMU-1-Small-Region.svs", "slides/hamamatsu-DAPI-387.ndpi",
        "tissue/stain_target.png", "odd/tiff/pillow-tiff_tiled_planar_lzw.tiff"}) {
    const auto slide = SlideReader::open(sample(name));
    const auto pixels = read(*slide, 0, -40, -30, 60, 50);
    const auto inner = read(*slide, 0, 0, 0, 20, 20);
    for (int y = 0; y < 60; ++y) {
      for (int x = 0; x < 50 * 3; ++x) {
        const bool inside = y >= 40 && x >= 90;
        const int expected = inside ? inner[static_cast<std::size_t>((y - 40) * 60 + x - 90)] : 255;
        ASSERT_EQ(pixels[static_cast<std::size_t>(y * 150 + x)], expected)
            << name << " " << y << " " << x;
      }
    }
    EXPECT_EQ(read(*slide, 0, 1 << 20, 5, 3, 3), std::vector<std::uint8_t>(27, 255)) << name;
  }
}

TEST(SlideReader, ManyThreadsReadTheSame) {
  for (const char* name :
       {"slides/derived/cmu-aperio-style-4level.svs", "slides/derived/cmu-lzw-pred-256.tif",
        "slides/hamamatsu-DAPI-387.ndpi", "odd/tiff/pillow-tiff_tiled_planar_lzw.tiff"}) {
    const auto slide = SlideReader::open(sample(name));
    const auto& size = slide->info().levels[0];
    const auto window = [&](int i) {
      return read(*slide, 0, (i * 37) % size.height, (i * 53) % size.width, 100, 90);
    };
    std::vector<std::vector<std::uint8_t>> expected;
    for (int i = 0; i < 40; ++i) expected.push_back(window(i));
    std::vector<int> wrong(7);
    std::vector<std::thread> threads;
    for (int t = 0; t < 7; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 40; ++i)
          wrong[static_cast<std::size_t>(t)] +=
              window((i + t * 5) % 40) != expected[static_cast<std::size_t>((i + t * 5) % 40)];
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<int>(7)) << name;
  }
}

TEST(SlideReader, SaysInOneSentenceWhyAFileIsNoSlide) {
  const TempFolder folder;
  const std::string svs = file_text(sample("slides/CMU-1-Small-Region.svs"));
  const struct {
    std::string path;
    ErrorCode code;
    std::string text;
  } cases[] = {
      {folder / "none.svs", ErrorCode::not_found, "there is no such file"},
      {folder / "", ErrorCode::io, "is not a regular file"},
      {folder.write("empty.svs", ""), ErrorCode::malformed, "the file is empty"},
      {folder.write("text.svs", "Dear colleague, here is the slide"), ErrorCode::malformed,
       "the text \"Dear colleague, \""},
      {folder.write("noise.tif", "\x01\x02\x03"), ErrorCode::malformed, "the bytes 01 02 03"},
      {folder.write("cut.svs", svs.substr(0, svs.size() * 6 / 10)), ErrorCode::corrupt,
       "truncated"},
      {folder.write("cut.png", file_text(sample("tissue/stain_target.png")).substr(0, 20)),
       ErrorCode::corrupt, "is not a readable PNG"},
      {sample("odd/slides/broken.svs"), ErrorCode::malformed, "is neither a slide"},
  };
  for (const auto& c : cases) {
    const Error error = thrown_by([&] { SlideReader::open(c.path); });
    EXPECT_EQ(error.code(), c.code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(c.text));
    EXPECT_THAT(error.what(), HasSubstr(c.path));
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
  }
}

TEST(SlideReader, ADamagedTileIsNamedAndTheOthersStillRead) {
  const TempFolder folder;
  for (const char* name :
       {"slides/derived/cmu-aperio-style-4level.svs", "slides/TCGA-CR-7395-01A-01-TS1.svs",
        "slides/derived/cmu-lzw-pred-256.tif"}) {
    const TiffDirectory level0 = read_first_tiff_directory(*storage::open_input(sample(name)));
    // The second tile of the first row: openers look at the first, the middle and the largest.
    std::string bytes = file_text(sample(name));
    ASSERT_GT(level0.tile_offsets.size(), 1u);
    const auto at = level0.tile_offsets[1];
    ASSERT_LT(at + 64, bytes.size());
    for (std::size_t i = 0; i < 64; ++i) bytes[at + i] = '\0';
    const auto slide = SlideReader::open(
        folder.write("damaged" + std::filesystem::path(name).extension().string(), bytes));
    const auto good = SlideReader::open(sample(name));
    const std::int64_t inside = level0.tile_width + 10;
    const Error error = thrown_by([&] { read(*slide, 0, 5, inside, 20, 20); });
    EXPECT_EQ(error.code(), ErrorCode::corrupt) << name << ": " << error.what();
    EXPECT_THAT(error.what(), HasSubstr("damaged"));
    EXPECT_THAT(error.what(),
                AnyOf(HasSubstr("tile row 0, column 1"), HasSubstr("column 266, row 5"),
                      HasSubstr("tile 1 (row 0, column 256)")));
    EXPECT_EQ(read(*slide, 0, 5, 5, 20, 20), read(*good, 0, 5, 5, 20, 20)) << name;
  }
}

TEST(SlideReader, HostileFilesAreRefusedOrReadWithinLittleMemory) {
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  int refused = 0, decoded = 0;
  for (const auto& entry : std::filesystem::directory_iterator(sample("odd/tiff"))) {
    try {
      const auto slide = SlideReader::open(entry.path().string());
      const auto& size = slide->info().levels[0];
      read(*slide, 0, 0, 0, std::min<std::int64_t>(size.height, 1000),
           std::min<std::int64_t>(size.width, 1000));
      ++decoded;
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::internal) << error.what();
      EXPECT_THAT(error.what(), HasSubstr(entry.path().filename().string()));
      EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
      ++refused;
    }
  }
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  EXPECT_EQ(refused, 31);
  EXPECT_EQ(decoded, 12);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 100 * 1024) << "KiB";
}

}  // namespace
}  // namespace headrace::imaging
