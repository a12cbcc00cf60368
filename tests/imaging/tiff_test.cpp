#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "headrace/imaging/label_reader.hpp"
#include "headrace/imaging/picture/image_file.hpp"
#include "headrace/imaging/slide/slide_reader.hpp"
#include "headrace/imaging/tiff/encoded_tiles.hpp"
#include "headrace/imaging/tiff/label_writer.hpp"
#include "headrace/imaging/tiff/pyramid_writer.hpp"
#include "headrace/imaging/tiff/tiff_directory.hpp"
#include "headrace/imaging/tiff/tiff_file_writer.hpp"
#include "headrace/imaging/tiff/tiff_image.hpp"
#include "headrace/pixels/jpeg/jpeg_decoder.hpp"
#include "headrace/storage/open_store.hpp"
#include "tests/imaging/sample_files.hpp"

namespace headrace::imaging {
namespace {

using testing::HasSubstr;

/// A tile through EncodedTiles against the slide reader, where both have pixels.
void expect_tile_is_slide(const EncodedTiles& tiles, const SlideReader& slide, int level,
                          std::int64_t ty, std::int64_t tx) {
  const EncodedTileLevel& l = tiles.levels()[static_cast<std::size_t>(level)];
  const auto tile = tiles.tile(level, ty, tx);
  ASSERT_FALSE(tile.empty());
  std::vector<std::uint8_t> decoded(static_cast<std::size_t>(l.tile_height * l.tile_width * 3));
  decode_tile(tiles.codec(), tile, "tile", l, decoded.data(), l.tile_width * 3);
  const std::int64_t h = std::min(l.tile_height, l.height - ty * l.tile_height);
  const std::int64_t w = std::min(l.tile_width, l.width - tx * l.tile_width);
  std::vector<std::uint8_t> read(static_cast<std::size_t>(h * w * 3));
  slide.read(level, ty * l.tile_height, tx * l.tile_width, h, w, read.data(), w * 3);
  for (std::int64_t y = 0; y < h; ++y) {
    ASSERT_TRUE(std::equal(read.begin() + y * w * 3, read.begin() + (y + 1) * w * 3,
                           decoded.begin() + y * l.tile_width * 3))
        << "level " << level << " tile " << ty << " " << tx << " row " << y;
  }
}

TEST(EncodedTiles, EveryTileDecodesToTheSlidesPixels) {
  const struct {
    const char* name;
    std::size_t levels;
  } cases[] = {{"slides/CMU-1-Small-Region.svs", 1},  // photometric RGB: needs the APP14 marker
               {"slides/derived/cmu-aperio-style-4level.svs", 4},
               {"slides/derived/tcga-jpeg420-256.tif", 4},
               {"slides/TCGA-CR-7395-01A-01-TS1.svs", 2}};  // JPEG 2000
  for (const auto& c : cases) {
    const auto slide = SlideReader::open(sample(c.name));
    const EncodedTiles* tiles = slide->encoded_tiles();
    ASSERT_NE(tiles, nullptr) << c.name;
    ASSERT_EQ(tiles->levels().size(), c.levels);
    for (int level = 0; level < static_cast<int>(c.levels); ++level) {
      const EncodedTileLevel& l = tiles->levels()[static_cast<std::size_t>(level)];
      for (std::int64_t ty = 0; ty * l.tile_height < l.height; ty += level == 0 ? 3 : 1) {
        for (std::int64_t tx = 0; tx * l.tile_width < l.width; ++tx)
          expect_tile_is_slide(*tiles, *slide, level, ty, tx);
      }
    }
  }
}

TEST(EncodedTiles, NullWhereTilesAreNoneOrNotTheSlidesPixels) {
  for (const char* name : {"slides/hamamatsu-DAPI-387.ndpi", "slides/dicom-bone-jpeg.dcm",
                           "slides/derived/cmu-lzw-pred-256.tif", "tissue/stain_target.png",
                           "odd/tiff/pillow-tiff_tiled_cmyk_jpeg.tif"}) {
    EXPECT_EQ(SlideReader::open(sample(name))->encoded_tiles(), nullptr) << name;
  }
}

TEST(EncodedTiles, Jpeg2000IsTheFilesBytesWithoutTheTextOfComments) {
  const std::string name = sample("slides/TCGA-CR-7395-01A-01-TS1.svs");
  const std::string bytes = file_text(name);
  const TiffDirectory level0 = read_first_tiff_directory(*storage::open_input(name));
  const auto slide = SlideReader::open(name);
  const EncodedTiles* tiles = slide->encoded_tiles();
  ASSERT_NE(tiles, nullptr);
  ASSERT_EQ(tiles->codec(), TileCodec::jpeg2k);
  for (std::size_t i = 0; i < level0.tile_offsets.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    const auto tile = tiles->tile(0, index / level0.tiles_across(), index % level0.tiles_across());
    ASSERT_EQ(tile.size(), level0.tile_bytes[i]);
    std::string wanted = bytes.substr(level0.tile_offsets[i], level0.tile_bytes[i]);
    // Two comments of Kakadu's: marker, length, kind, text.
    for (auto at = wanted.find("\xff\x64"); at < 400; at = wanted.find("\xff\x64", at + 2)) {
      const auto length = static_cast<std::size_t>(static_cast<unsigned char>(wanted[at + 3]));
      std::fill_n(wanted.begin() + static_cast<std::ptrdiff_t>(at + 6), length - 4, ' ');
    }
    ASSERT_EQ(std::string(reinterpret_cast<const char*>(tile.data()), tile.size()), wanted) << i;
    ASSERT_EQ(wanted.find("Kakadu"), std::string::npos);
  }
}

TEST(EncodedTiles, ATileThatTheFileEndsBeforeIsNamed) {
  const TempFolder folder;
  const std::string name = sample("slides/derived/tcga-jpeg420-256.tif");
  std::string bytes = file_text(name);
  const TiffDirectory level0 = read_first_tiff_directory(*storage::open_input(name));
  // The offset of tile 1 moves beyond the end; found by its value, which stands once in the file.
  const auto old_offset = static_cast<std::uint32_t>(level0.tile_offsets[1]);
  const std::string needle(reinterpret_cast<const char*>(&old_offset), 4);
  const auto at = bytes.find(needle);
  ASSERT_NE(at, std::string::npos);
  ASSERT_EQ(bytes.find(needle, at + 1), std::string::npos);
  bytes.replace(at, 4, "\xF0\xFF\xFF\x7F");
  const auto slide = SlideReader::open(folder.write("cut.tif", bytes));
  const EncodedTiles* tiles = slide->encoded_tiles();
  ASSERT_NE(tiles, nullptr);
  const Error error = thrown_by([&] { tiles->tile(0, 0, 1); });
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_THAT(error.what(), HasSubstr("level 0, tile row 0, column 1"));
  EXPECT_THAT(error.what(), HasSubstr("truncated or damaged"));
}

/// A little-endian classic TIFF header and one directory of `entries` raw entries.
std::string tiff(std::uint16_t entries, const std::string& body, std::uint32_t next) {
  std::string text("II*\0\x08\0\0\0", 8);
  text.append(reinterpret_cast<const char*>(&entries), 2);
  text += body;
  text.append(reinterpret_cast<const char*>(&next), 4);
  return text;
}
std::string entry(std::uint16_t tag, std::uint16_t type, std::uint32_t count, std::uint32_t value) {
  std::string text(12, '\0');
  std::memcpy(text.data(), &tag, 2);
  std::memcpy(text.data() + 2, &type, 2);
  std::memcpy(text.data() + 4, &count, 4);
  std::memcpy(text.data() + 8, &value, 4);
  return text;
}

TEST(TiffDirectory, NothingInTheFileIsTrusted) {
  const TempFolder folder;
  const std::string width = entry(256, 4, 1, 100);
  const struct {
    const char* what;
    std::string bytes, text;
  } cases[] = {
      {"a chain that bites its tail", tiff(1, width, 8), "does not end"},
      {"a directory behind the end", tiff(1, width, 5000), "the file ends at"},
      {"more entries than bytes", tiff(4000, width, 0), "the file ends at"},
      {"no entries", tiff(0, "", 0), "claims 0 entries"},
      {"an array larger than the file", tiff(1, entry(324, 4, 0x40000000, 8), 0),
       "more than the file"},
      {"an array behind the end", tiff(1, entry(325, 4, 5, 100000), 0), "the file ends at"},
      {"only a header", std::string("II*\0\x08\0\0\0", 8), "the file ends at 8"},
      {"half a header", std::string("II*\0", 4), "the file ends at 4"},
      {"a huge BigTIFF offset", std::string("II+\0\x08\0\0\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", 16),
       "the file ends at 16"},
  };
  for (const auto& c : cases) {
    const auto file = storage::open_input(folder.write("x.tif", c.bytes));
    const Error error = thrown_by([&] { read_tiff_directories(*file); });
    const bool cut = std::string(c.text).find("the file ends at") != std::string::npos;
    EXPECT_EQ(error.code(), cut ? ErrorCode::corrupt : ErrorCode::malformed)
        << c.what << ": " << error.what();
    EXPECT_THAT(error.what(), HasSubstr(c.text)) << c.what;
  }
}

TEST(TiffImage, MutatedFilesGiveErrorsOrPixels) {
  // Three seeds a file, bytes of the directory among the changed ones; HR_TEST_SEED is the first
  // seed to try elsewhere.
  const TempFolder folder;
  const char* given = std::getenv("HR_TEST_SEED");
  const auto seed = static_cast<unsigned>(given != nullptr ? std::atoi(given) : 1);
  int errors = 0, pixels = 0;
  for (const char* name : {"imagetiff-bigtiff-BigTIFFMotorola.tif", "imagetiff-quad-tile.jpg.tiff",
                           "pillow-child_ifd.tiff", "imagetiff-tiled-jpeg-ycbcr.tif",
                           "pillow-tiff_wrong_bits_per_sample.tiff"}) {
    const std::string whole = file_text(sample(std::string("odd/tiff/") + name));
    const auto original = storage::open_input(sample(std::string("odd/tiff/") + name));
    for (unsigned round = 0; round < 60; ++round) {
      std::mt19937 random(seed * 1000 + round);
      std::string bytes = whole;
      const std::size_t changes = 1 + random() % 8;
      for (std::size_t i = 0; i < changes; ++i) {
        const std::size_t window = round % 3 == 0 ? bytes.size() : 400;
        const std::size_t from = round % 3 == 1 ? bytes.size() - std::min(window, bytes.size()) : 0;
        bytes[from + random() % std::min(window, bytes.size())] = static_cast<char>(random());
      }
      const std::string path = folder.write("m.tif", bytes);
      try {
        SlideReader::open(path);
        const auto image = TiffImage::open(storage::open_input(path));
        const auto& info = image->info();
        const std::int64_t h = std::min<std::int64_t>(info.height, 600),
                           w = std::min<std::int64_t>(info.width, 600);
        std::vector<std::uint8_t> rgb(static_cast<std::size_t>(h * w * 3));
        image->read_rgb(0, 0, h, w, rgb.data(), w * 3);
        ++pixels;
      } catch (const Error& error) {
        EXPECT_NE(error.code(), ErrorCode::internal)
            << name << " seed " << seed << " round " << round << ": " << error.what();
        ++errors;
      }
    }
  }
  EXPECT_GT(errors, 30);
  EXPECT_GT(pixels, 30);
}

TEST(TiffFileWriter, BigTiffHoldsTheSameAsClassic) {
  const TempFolder folder;
  const std::vector<std::byte> data(1001, std::byte{5});
  std::vector<TiffDirectory> read[2];
  for (int big = 0; big < 2; ++big) {
    const std::string path = folder / (big ? "big.tif" : "classic.tif");
    TiffFileWriter file(path, big ? 100 : 0xFFFFFFFFu);
    const auto at = file.append(data);
    for (std::uint64_t i = 0; i < 2; ++i) {
      file.add_directory({{256, TiffType::dword, {100 + i}},
                          {257, TiffType::dword, {200}},
                          {322, TiffType::dword, {64}},
                          {323, TiffType::dword, {64}},
                          {258, TiffType::word, {8, 8, 8}},
                          {324, TiffType::offset, {at, at + 1, at + 2}},
                          {325, TiffType::dword, {10, 20, 30}}});
    }
    file.finish();
    const auto written = storage::open_input(path);
    EXPECT_EQ(std::to_integer<int>(written->head(3)[2]), big ? 43 : 42);
    read[big] = read_tiff_directories(*written);
  }
  ASSERT_EQ(read[0].size(), 2u);
  ASSERT_EQ(read[1].size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read[1][i].width, 100 + static_cast<std::int64_t>(i));
    EXPECT_EQ(read[1][i].bits, 8);
    EXPECT_EQ(read[0][i].tile_offsets, read[1][i].tile_offsets);
    EXPECT_EQ(read[1][i].tile_offsets, (std::vector<std::uint64_t>{16, 17, 18}));
    EXPECT_EQ(read[0][i].tile_bytes, (std::vector<std::uint32_t>{10, 20, 30}));
  }
}

/// Smooth colours, so that JPEG loses little.
int colour(std::int64_t y, std::int64_t x, int c) {
  return static_cast<int>(128 + 100 * std::sin(0.011 * static_cast<double>(y + 40 * c)) *
                                    std::cos(0.013 * static_cast<double>(x)));
}
void paint(std::int64_t y0, std::int64_t x0, std::int64_t h, std::int64_t w, std::uint8_t* dst,
           std::int64_t stride) {
  for (std::int64_t y = 0; y < h; ++y) {
    for (std::int64_t x = 0; x < w * 3; ++x)
      dst[y * stride + x] =
          static_cast<std::uint8_t>(colour(y0 + y, x0 + x / 3, static_cast<int>(x % 3)));
  }
}

TEST(PyramidWriter, LevelsAreTwoByTwoMeansThatOpenSlideReads) {
  const TempFolder folder;
  ThreadPool pool(2);
  PyramidOptions options;
  options.height = 777;
  options.width = 1301;
  options.tile = 128;
  options.jpeg_quality = 95;
  options.mpp = 0.25;
  write_pyramid_tiff(folder / "p.tif", options, pool, paint);
  EXPECT_EQ(folder.files(), 1u);
  const auto slide = SlideReader::open(folder / "p.tif");
  EXPECT_EQ(slide->info().format, "generic-tiff");
  EXPECT_EQ(slide->info().mpp_x, 0.25);
  ASSERT_EQ(slide->info().levels.size(), 5u);
  pixels::Image8 expected(777, 1301, 3);
  paint(0, 0, 777, 1301, expected.pixels.data(), 1301 * 3);
  for (int level = 0; level < 5; ++level) {
    const auto& size = slide->info().levels[static_cast<std::size_t>(level)];
    ASSERT_EQ(size.height, expected.height);
    ASSERT_EQ(size.width, expected.width);
    pixels::Image8 read(size.height, size.width, 3);
    slide->read(level, 0, 0, size.height, size.width, read.pixels.data(), size.width * 3);
    double error = 0;
    for (std::size_t i = 0; i < read.pixels.size(); ++i)
      error += std::abs(int(read.pixels[i]) - int(expected.pixels[i]));
    EXPECT_LT(error / static_cast<double>(read.pixels.size()), 0.9 + 0.4 * level) << level;
    pixels::Image8 half(expected.height / 2, expected.width / 2, 3);
    for (std::int64_t y = 0; y < half.height; ++y) {
      for (std::int64_t x = 0; x < half.width * 3; ++x) {
        const std::int64_t at = (x / 3) * 6 + x % 3;
        const auto* upper = expected.row(2 * y) + at;
        const auto* lower = expected.row(2 * y + 1) + at;
        half.row(y)[x] =
            static_cast<std::uint8_t>((upper[0] + upper[3] + lower[0] + lower[3] + 2) / 4);
      }
    }
    expected = std::move(half);
  }
}

TEST(PyramidWriter, SameBytesForAnyNumberOfThreads) {
  const TempFolder folder;
  PyramidOptions options;
  options.height = 530;
  options.width = 610;
  options.tile = 64;
  std::vector<std::string> hashes;
  for (const int threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    write_pyramid_tiff(folder / "p.tif", options, pool, paint);
    hashes.push_back(sha256_hex(file_text(folder / "p.tif")));
  }
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[0], hashes[2]);
}

TEST(PyramidWriter, LeavesNothingWhenRenderingFails) {
  const TempFolder folder;
  ThreadPool pool(2);
  PyramidOptions options;
  options.height = options.width = 600;
  const Error error = thrown_by([&] {
    write_pyramid_tiff(folder / "p.tif", options, pool,
                       [](std::int64_t y, std::int64_t x, auto...) {
                         if (y == 256 && x == 256) fail(ErrorCode::io, "the renderer gave up");
                       });
  });
  EXPECT_STREQ(error.what(), "the renderer gave up");
  EXPECT_EQ(folder.files(), 0u);
}

TEST(PyramidWriter, AFullDiskIsSaidAndNothingStays) {
  ThreadPool pool(1);
  PyramidOptions options;
  options.height = options.width = 300;
  const Error error =
      thrown_by([&] { write_pyramid_tiff("/proc/none/p.tif", options, pool, paint); });
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_THAT(error.what(), HasSubstr("/proc/none/p.tif: cannot be written"));
}

TEST(TiffFileWriter, ChildrenAreReachedFromTheirDirectoryAloneInBothKinds) {
  const TempFolder folder;
  for (const std::uint64_t classic_limit : {0xFFFFFFFFull, 0ull}) {
    TiffFileWriter file(folder / "s.tif", classic_limit);
    const std::uint64_t at = file.append(std::vector<std::byte>(16 * 16));
    const auto tags = [&](std::uint64_t side) {
      return std::vector<TiffTag>{{256, TiffType::dword, {side}}, {257, TiffType::dword, {side}},
                                  {258, TiffType::word, {8}},     {259, TiffType::word, {1}},
                                  {277, TiffType::word, {1}},     {322, TiffType::dword, {16}},
                                  {323, TiffType::dword, {16}},   {324, TiffType::offset, {at}},
                                  {325, TiffType::dword, {256}}};
    };
    file.add_directory(tags(16), {tags(8), tags(4)});
    file.add_directory(tags(15), {tags(7)});
    file.finish();
    const auto bytes = storage::open_input(folder / "s.tif");
    EXPECT_EQ(bytes->head(3)[2], std::byte{std::uint8_t(classic_limit == 0 ? 43 : 42)});
    const auto main = read_tiff_directories(*bytes);
    ASSERT_EQ(main.size(), 2u);
    std::vector<std::int64_t> widths;
    for (const TiffDirectory& d : main) {
      widths.push_back(d.width);
      for (const std::uint64_t child : d.sub_directories)
        widths.push_back(read_tiff_directory_at(*bytes, child).width);
    }
    EXPECT_EQ(widths, (std::vector<std::int64_t>{16, 8, 4, 15, 7}));
  }
}

TEST(LabelWriter, LabelsComeBackInAnyWindow) {
  const TempFolder folder;
  ThreadPool pool(3);
  const auto label = [](std::int64_t y, std::int64_t x) { return (y / 50 + x / 33) % 6; };
  write_label_tiff(folder / "m.tif", 500, 700, 128, 0.5, pool,
                   [&](std::int64_t y0, std::int64_t x0, std::int64_t h, std::int64_t w,
                       std::uint8_t* dst, std::int64_t stride) {
                     for (std::int64_t y = 0; y < h; ++y) {
                       for (std::int64_t x = 0; x < w; ++x)
                         dst[y * stride + x] = static_cast<std::uint8_t>(label(y0 + y, x0 + x));
                     }
                   });
  const auto reader = LabelReader::open(folder / "m.tif");
  EXPECT_EQ(reader->height(), 500);
  EXPECT_EQ(reader->width(), 700);
  std::vector<std::uint16_t> window(300 * 410, 99);
  reader->read(123, 211, 300, 400, window.data(), 410);
  for (std::int64_t y = 0; y < 300; ++y) {
    for (std::int64_t x = 0; x < 410; ++x) {
      ASSERT_EQ(window[static_cast<std::size_t>(y * 410 + x)],
                x < 400 ? label(123 + y, 211 + x) : 99);
    }
  }
  EXPECT_EQ(thrown_by([&] { reader->read(400, 0, 101, 5, window.data(), 410); }).code(),
            ErrorCode::usage);
}

}  // namespace
}  // namespace headrace::imaging
