#include "headrace/imaging/picture/image_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headrace/imaging/label_reader.hpp"
#include "headrace/imaging/pixel_size.hpp"
#include "headrace/imaging/tiff/tiff_image.hpp"
#include "headrace/pixels/jpeg/jpeg_encoder.hpp"
#include "tests/imaging/sample_files.hpp"

namespace headrace::imaging {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

TEST(ImageFile, DecodesAsPillowDoes) {
  for (const Json& entry : golden()["images"]) {
    EXPECT_EQ(sha_of(read_rgb(sample(entry["file"])).pixels), entry["sha256"]) << entry["file"];
  }
}

TEST(ImageFile, TellsTheKindFromTheBytes) {
  const TempFolder folder;
  const std::string png = file_text(sample("tissue/stain_target.png"));
  EXPECT_EQ(read_rgb(folder.write("a.jpg", png)).pixels,
            read_rgb(sample("tissue/stain_target.png")).pixels);
}

TEST(ImageFile, PngRoundTrip) {
  const TempFolder folder;
  for (const int channels : {1, 3}) {
    pixels::Image8 image(37, 53, channels);
    for (std::size_t i = 0; i < image.pixels.size(); ++i)
      image.pixels[i] = static_cast<std::uint8_t>(i * 31 + i / 53);
    write_png(folder / "a.png", image);
    const pixels::Image8 read = read_rgb(folder / "a.png");
    ASSERT_EQ(read.channels, 3);
    for (std::size_t i = 0; i < read.pixels.size(); ++i) {
      ASSERT_EQ(read.pixels[i], image.pixels[channels == 3 ? i : i / 3]);
    }
  }
  EXPECT_EQ(folder.files(), 1u);
  EXPECT_EQ(thrown_by([&] { write_png(folder / "b.png", pixels::Image8(2, 2, 2)); }).code(),
            ErrorCode::usage);
}

TEST(ImageFile, JpegRoundTripKeepsSmoothColours) {
  const TempFolder folder;
  pixels::Image8 image(100, 120, 3);
  for (std::int64_t y = 0; y < 100; ++y) {
    for (std::int64_t x = 0; x < 120; ++x) {
      image.row(y)[x * 3] = static_cast<std::uint8_t>(y + 50);
      image.row(y)[x * 3 + 1] = static_cast<std::uint8_t>(x + 60);
      image.row(y)[x * 3 + 2] = 140;
    }
  }
  // Tables and abbreviated tile in one stream make a whole JPEG: SOI tables, tile without its SOI.
  const auto tables = pixels::encode_jpeg_tables(95),
             tile = pixels::encode_jpeg_tile(image.pixels.data(), 100, 120, 360, 95);
  std::string jpeg(reinterpret_cast<const char*>(tables.data()), tables.size() - 2);
  jpeg.append(reinterpret_cast<const char*>(tile.data()) + 2, tile.size() - 2);
  const std::string path = folder.write("a.jpg", jpeg);
  const pixels::Image8 read = read_rgb(path);
  ASSERT_EQ(read.pixels.size(), image.pixels.size());
  for (std::size_t i = 0; i < read.pixels.size(); ++i)
    ASSERT_NEAR(read.pixels[i], image.pixels[i], 6) << i;

  const Error cut =
      thrown_by([&] { read_rgb(folder.write("cut.jpg", jpeg.substr(0, jpeg.size() * 2 / 3))); });
  EXPECT_EQ(cut.code(), ErrorCode::corrupt);
  EXPECT_THAT(cut.what(), HasSubstr("cut.jpg: the JPEG cannot be decoded"));
  EXPECT_EQ(thrown_by([&] { LabelReader::open(path); }).code(), ErrorCode::unsupported);
}

TEST(ImageFile, LabelsOf16BitPngsAsPillowReadsThem) {
  for (const Json& entry : golden()["labels"]) {
    const auto labels = read_labels(sample(entry["file"]));
    EXPECT_EQ(labels.height, entry["height"]);
    EXPECT_EQ(labels.width, entry["width"]);
    EXPECT_EQ(sha_of(labels.pixels), entry["sha256"]) << entry["file"];
  }
}

TEST(ImageFile, A16BitTiffHoldsLabelsButNoPicture) {
  const std::string path = sample("odd/tiff/fuzz-inf_loop-17.tif");
  EXPECT_THAT(thrown_by([&] { read_rgb(path); }).what(),
              AnyOf(HasSubstr("16 bits a sample"), HasSubstr("truncated or damaged")));
}

TEST(ImageFile, AHeaderCannotClaimTheMemory) {
  const TempFolder folder;
  std::string png = file_text(sample("tissue/stain_target.png"));
  // 60000 x 60000 in IHDR, with the CRC that belongs to it (zlib.crc32 of the 17 bytes).
  png.replace(16, 8, std::string("\0\0\xEA\x60\0\0\xEA\x60", 8));
  png.replace(29, 4, "\x0F\xB0\xE2\x15");
  const Error error = thrown_by([&] { read_rgb(folder.write("claim.png", png)); });
  EXPECT_EQ(error.code(), ErrorCode::memory) << error.what();
  EXPECT_THAT(error.what(), HasSubstr("60000x60000 pixels need"));
}

TEST(ImageFile, OnlyCrediblePixelSizesAreTaken) {
  EXPECT_TRUE(credible_mpp(0.25));
  EXPECT_TRUE(credible_mpp(16.8));
  EXPECT_FALSE(credible_mpp(25400.0 / 72));   // screens
  EXPECT_FALSE(credible_mpp(25400.0 / 300));  // prints
  EXPECT_FALSE(credible_mpp(0));
}

TEST(ImageFile, DensitiesOfScreensAndPrintersAreNoPixelSize) {
  EXPECT_EQ(pixel_size_of_density(0.25, 0.5).mpp_x, 0.5);
  EXPECT_EQ(pixel_size_of_density(0.25, 0.5).mpp_y, 0.25);
  EXPECT_TRUE(pixel_size_of_density(25400.0 / 4000, 25400.0 / 4000).known());  // a film scanner
  for (const double dots : {72.0, 96.0, 150.0, 300.0}) {
    const PixelSize size = pixel_size_of_density(25400 / dots, 25400 / dots);
    EXPECT_FALSE(size.known()) << dots;
    EXPECT_TRUE(size.notes.empty()) << dots;
  }
  for (const double dots : {600.0, 1200.0}) {
    const PixelSize size = pixel_size_of_density(25400 / dots, 25400 / dots);
    EXPECT_FALSE(size.known()) << dots;
    ASSERT_EQ(size.notes.size(), 1u) << dots;
    EXPECT_EQ(size.notes[0].code, NoteCode::pixel_size_ignored);
  }
  EXPECT_TRUE(stated_pixel_size(40, 40).known());
}

}  // namespace
}  // namespace headrace::imaging
