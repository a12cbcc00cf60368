#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>  // jpeglib.h needs it before itself

#include <jpeglib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/pixels/jpeg/jpeg_decoder.hpp"
#include "headrace/pixels/jpeg/jpeg_encoder.hpp"
#include "tests/core/error_of.hpp"

namespace headrace::pixels {
namespace {

using Bytes = std::vector<std::byte>;

Bytes encoded(const Bytes& pixels, const JpegShape& shape, int quality,
              JpegSubsampling subsampling) {
  Bytes out;
  encode_jpeg(pixels.data(), shape.width * shape.components, shape, quality, subsampling, "test",
              out);
  return out;
}

// Coloured noise over slopes: every coefficient and every clamp of the decoder is met.
Bytes picture(const JpegShape& shape) {
  std::mt19937 generator(31);
  Bytes out(static_cast<std::size_t>(shape.height * shape.width * shape.components));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto pixel = static_cast<std::int64_t>(i) / shape.components;
    const std::int64_t slope = pixel % shape.width * 2 + pixel / shape.width +
                               60 * (static_cast<std::int64_t>(i) % shape.components);
    const int noise = pixel / shape.width % 64 < 32 ? 120 : 8;
    out[i] = static_cast<std::byte>(std::clamp<std::int64_t>(
        slope % 256 + static_cast<std::int64_t>(generator() % static_cast<unsigned>(noise)) -
            noise / 2,
        0, 255));
  }
  return out;
}

// The reference: libjpeg-turbo's plain loop over all rows, by its own defaults.
Bytes decode_plainly(const Bytes& jpeg) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(jpeg.data()), jpeg.size());
  jpeg_read_header(&info, TRUE);
  jpeg_start_decompress(&info);
  const std::size_t row = info.output_width * static_cast<std::size_t>(info.output_components);
  Bytes out(row * info.output_height);
  while (info.output_scanline < info.output_height) {
    auto* line = reinterpret_cast<JSAMPROW>(out.data() + row * info.output_scanline);
    jpeg_read_scanlines(&info, &line, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return out;
}

// An Adobe marker with transform 0 makes decoders take the three components as RGB.
Bytes marked_rgb(const Bytes& jpeg) {
  static constexpr unsigned char kAdobe[] = {0xff, 0xee, 0,   14, 'A', 'd', 'o', 'b',
                                             'e',  0,    100, 0,  0,   0,   0,   0};
  Bytes out(jpeg.begin(), jpeg.begin() + 2);
  const auto marker = std::as_bytes(std::span(kAdobe));
  out.insert(out.end(), marker.begin(), marker.end());
  const std::size_t jfif = 2 + 2 + 16;  // the JFIF marker would say YCbCr first
  out.insert(out.end(), jpeg.begin() + static_cast<std::ptrdiff_t>(jfif), jpeg.end());
  return out;
}

void expect_windows(const Bytes& jpeg, const JpegShape& shape, int trials) {
  const auto whole = decode_plainly(jpeg);
  const auto pixel = static_cast<std::size_t>(shape.components);
  ASSERT_EQ(whole.size(), static_cast<std::size_t>(shape.height * shape.width) * pixel);
  std::mt19937 generator(77);
  for (int trial = 0; trial < trials; ++trial) {
    JpegWindow window;
    window.y0 = static_cast<std::int64_t>(generator()) % shape.height;
    window.x0 = static_cast<std::int64_t>(generator()) % shape.width;
    if (trial % 4 == 0) window.y0 = 0;
    if (trial % 6 == 1) window.y0 -= window.y0 % 8;
    if (trial % 5 == 0) window.x0 = 0;
    window.y1 = window.y0 + 1 + static_cast<std::int64_t>(generator()) % (shape.height - window.y0);
    window.x1 = window.x0 + 1 + static_cast<std::int64_t>(generator()) % (shape.width - window.x0);
    if (trial % 3 == 0) window.x1 = shape.width;
    if (trial % 7 == 0) window.x1 = std::min(window.x1, window.x0 + 1 + trial % 4);
    if (trial % 9 == 0) window.y1 = window.y0 + 1;
    const auto row = static_cast<std::size_t>(window.x1 - window.x0) * pixel;
    Bytes got((row + 3) * static_cast<std::size_t>(window.y1 - window.y0), std::byte{0xee});
    decode_jpeg_window(jpeg, "test", shape, window, got.data(),
                       static_cast<std::ptrdiff_t>(row + 3));
    for (std::int64_t y = window.y0; y < window.y1; ++y) {
      const auto* want =
          whole.data() + static_cast<std::size_t>(y * shape.width + window.x0) * pixel;
      const auto* have = got.data() + (row + 3) * static_cast<std::size_t>(y - window.y0);
      ASSERT_EQ(std::memcmp(want, have, row), 0)
          << "row " << y << " of window y " << window.y0 << "-" << window.y1 << ", x " << window.x0
          << "-" << window.x1 << " of " << shape.height << "x" << shape.width;
      ASSERT_EQ(have[row], std::byte{0xee});
    }
  }
}

TEST(Jpeg, EveryWindowIsBitIdenticalToTheWholeDecode) {
  for (const JpegShape& shape :
       {JpegShape{256, 256, 3}, JpegShape{64, 240, 3}, JpegShape{37, 53, 3}, JpegShape{96, 97, 3},
        JpegShape{1, 1, 3}, JpegShape{128, 128, 1}}) {
    const auto pixels = picture(shape);
    for (const JpegSubsampling subsampling :
         {JpegSubsampling::s444, JpegSubsampling::s422, JpegSubsampling::s420}) {
      for (const int quality : {30, 80, 98}) {
        SCOPED_TRACE(fmt::format("{}x{}, subsampling {}, quality {}", shape.height, shape.width,
                                 static_cast<int>(subsampling), quality));
        const Bytes jpeg = encoded(pixels, shape, quality, subsampling);
        expect_windows(jpeg, shape, shape.height == 256 ? 120 : 60);
        if (shape.components == 3) expect_windows(marked_rgb(jpeg), shape, 30);
      }
    }
  }
}

TEST(Jpeg, AnAdobeMarkerChangesTheColours) {
  const JpegShape shape{32, 32, 3};
  const auto pixels = picture(shape);
  const Bytes jpeg = encoded(pixels, shape, 95, JpegSubsampling::s444);
  EXPECT_NE(decode_plainly(jpeg), decode_plainly(marked_rgb(jpeg)));
}

TEST(Jpeg, AnotherSizeOrNumberOfComponentsIsCorrupt) {
  const JpegShape shape{32, 48, 3};
  const auto pixels = picture(shape);
  const Bytes jpeg = encoded(pixels, shape, 90, JpegSubsampling::s420);
  Bytes out(65536);
  for (const JpegShape& other :
       {JpegShape{48, 32, 3}, JpegShape{32, 47, 3}, JpegShape{32, 48, 1}}) {
    const std::string text = error_of(ErrorCode::corrupt, [&] {
      decode_jpeg_window(jpeg, "test", other, {0, 1, 0, 1}, out.data(), 48 * 3);
    });
    EXPECT_NE(text.find("32x48 with 3 components"), std::string::npos) << text;
  }
}

TEST(Jpeg, TruncatedImagesAreCorruptWhereTheyAreNeeded) {
  const JpegShape shape{64, 64, 3};
  const auto pixels = picture(shape);
  const Bytes jpeg = encoded(pixels, shape, 90, JpegSubsampling::s420);
  Bytes out(64 * 64 * 3);
  for (std::size_t size = 0; size + 4 < jpeg.size(); size += 1 + size / 23) {
    SCOPED_TRACE(size);
    error_of(ErrorCode::corrupt, [&] {
      decode_jpeg_window(std::span(jpeg).first(size), "test", shape, {0, 64, 0, 64}, out.data(),
                         192);
    });
  }
}

TEST(Jpeg, FlippedBitsNeverCrash) {
  const JpegShape shape{48, 48, 3};
  const auto pixels = picture(shape);
  const Bytes jpeg = encoded(pixels, shape, 85, JpegSubsampling::s420);
  Bytes out(48 * 48 * 3);
  std::mt19937 generator(41);
  for (int trial = 0; trial < 3000; ++trial) {
    auto damaged = jpeg;
    const std::size_t reach =
        trial % 2 == 0 ? std::min<std::size_t>(640, jpeg.size()) : jpeg.size();
    damaged[generator() % reach] ^= static_cast<std::byte>(1U << generator() % 8);
    const std::int64_t y0 = trial % 3 == 0 ? 17 : 0;
    try {
      decode_jpeg_window(damaged, "test", shape, {y0, 48, trial % 5, 48 - trial % 7}, out.data(),
                         144);
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::corrupt) << error.what();
    }
  }
  decode_jpeg_window(jpeg, "test", shape, {0, 48, 0, 48}, out.data(), 144);
  EXPECT_EQ(out, decode_plainly(jpeg));
}

std::string decoded_rgb(std::span<const std::byte> jpeg, const JpegShape& shape,
                        std::vector<std::uint8_t>& out) {
  out.assign(static_cast<std::size_t>(shape.height * shape.width * 3), 0);
  try {
    decode_jpeg_rgb(jpeg, "a.jpg", shape.height, shape.width, out.data(), shape.width * 3);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Jpeg, AFileIsRgbAndItsTopLeftPartIsThatOfTheWhole) {
  for (const int components : {1, 3}) {
    const JpegShape shape{50, 70, components};
    const Bytes jpeg = encoded(picture(shape), shape, 90, JpegSubsampling::s420);
    const Bytes whole = decode_plainly(jpeg);
    for (const JpegShape& part : {shape, JpegShape{50, 40, 3}, JpegShape{21, 70, 3}}) {
      std::vector<std::uint8_t> out;
      ASSERT_EQ(decoded_rgb(jpeg, part, out), "");
      for (std::size_t i = 0; i < out.size(); ++i) {
        const auto pixel = static_cast<std::int64_t>(i / 3);
        const std::int64_t at = pixel / part.width * 70 + pixel % part.width;
        const std::int64_t c = components == 3 ? static_cast<std::int64_t>(i % 3) : 0;
        ASSERT_EQ(out[i],
                  std::to_integer<int>(whole[static_cast<std::size_t>(at * components + c)]))
            << "value " << i << " of " << part.height << "x" << part.width;
      }
    }
  }
}

TEST(Jpeg, TheHeaderOfAFile) {
  const JpegShape shape{20, 30, 3};
  Bytes jpeg = encoded(picture(shape), shape, 90, JpegSubsampling::s420);
  EXPECT_FALSE(read_jpeg_info(jpeg, "a.jpg").mpp_x);
  jpeg[13] = std::byte{2};  // the density is in dots per centimetre: 1 x 1 becomes 250 x 500
  jpeg[15] = std::byte{250};
  jpeg[16] = std::byte{500 / 256};
  jpeg[17] = std::byte{500 % 256};
  const JpegInfo info = read_jpeg_info(jpeg, "a.jpg");
  EXPECT_EQ(info.height, 20);
  EXPECT_EQ(info.width, 30);
  EXPECT_EQ(info.components, 3);
  EXPECT_EQ(info.mpp_x, 40.0);
  EXPECT_EQ(info.mpp_y, 20.0);
  const std::string text =
      error_of(ErrorCode::corrupt, [&] { read_jpeg_info(std::span(jpeg).first(40), "a.jpg"); });
  EXPECT_EQ(text.find("a.jpg: is not a readable JPEG: "), 0u) << text;
}

TEST(Jpeg, AFileThatEndsEarlyOrIsNoPictureIsAnError) {
  const JpegShape shape{32, 32, 3};
  const Bytes jpeg = encoded(picture(shape), shape, 90, JpegSubsampling::s420);
  std::vector<std::uint8_t> out;
  const std::string start = "a.jpg: the JPEG cannot be decoded: ";
  for (const std::size_t size : {std::size_t{0}, jpeg.size() / 3, jpeg.size() - 2}) {
    const std::string text = decoded_rgb(std::span(jpeg).first(size), shape, out);
    EXPECT_EQ(text.find(start), 0u) << size << ": " << text;
  }
  EXPECT_EQ(decoded_rgb(jpeg, {32, 33, 3}, out),
            "a.jpg: the JPEG has 32x32 pixels, 33x32 expected");
}

// As libjpeg writes four components, which none of ours do.
Bytes cmyk() {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_height = info.image_width = 8;
  info.input_components = 4;
  info.in_color_space = JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_start_compress(&info, TRUE);
  unsigned char row[32] = {};
  JSAMPROW line = row;
  while (info.next_scanline < 8) jpeg_write_scanlines(&info, &line, 1);
  jpeg_finish_compress(&info);
  const auto* bytes = reinterpret_cast<const std::byte*>(memory);
  Bytes out(bytes, bytes + size);
  jpeg_destroy_compress(&info);
  std::free(memory);
  return out;
}

TEST(Jpeg, FourComponentsAreUnsupported) {
  const Bytes jpeg = cmyk();
  EXPECT_EQ(read_jpeg_info(jpeg, "a.jpg").components, 4);
  std::vector<std::uint8_t> out(192);
  error_of(ErrorCode::unsupported, [&] { decode_jpeg_rgb(jpeg, "a.jpg", 8, 8, out.data(), 24); });
}

// Bytes between two markers harm no pixel of a file, but a store's bytes are ours.
TEST(Jpeg, StrayBytesAreMendedInAFileAndRefusedInAStore) {
  const JpegShape shape{32, 32, 3};
  const Bytes whole = encoded(picture(shape), shape, 90, JpegSubsampling::s420);
  Bytes stray = whole;
  stray.insert(stray.begin() + 20, 3, std::byte{7});
  std::vector<std::uint8_t> want, got;
  ASSERT_EQ(decoded_rgb(whole, shape, want), "");
  EXPECT_EQ(decoded_rgb(stray, shape, got), "");
  EXPECT_EQ(got, want);
  Bytes out(32 * 32 * 3);
  const std::string text = error_of(ErrorCode::corrupt, [&] {
    decode_jpeg_window(stray, "chunk", shape, {0, 32, 0, 32}, out.data(), 96);
  });
  EXPECT_NE(text.find("chunk: Corrupt JPEG data: 3 extraneous bytes"), std::string::npos) << text;
}

// An abbreviated stream must not be decoded by the tables of the JPEG before it.
TEST(Jpeg, TablesOfAnotherImageAreNotUsed) {
  const JpegShape shape{32, 32, 3};
  const Bytes pixels = picture(shape);
  const Bytes whole = encoded(pixels, shape, 90, JpegSubsampling::s420);
  Bytes out(32 * 32 * 3);
  decode_jpeg_window(whole, "test", shape, {0, 32, 0, 32}, out.data(), 96);
  const Bytes tile =
      encode_jpeg_tile(reinterpret_cast<const std::uint8_t*>(pixels.data()), 32, 32, 96, 90);
  const std::string text = error_of(ErrorCode::corrupt, [&] {
    decode_jpeg_window(tile, "test", shape, {0, 32, 0, 32}, out.data(), 96);
  });
  EXPECT_NE(text.find("Quantization table"), std::string::npos) << text;
}

TEST(Jpeg, ATileAndItsTablesAreTheWholeJpeg) {
  const JpegShape shape{48, 64, 3};
  const Bytes pixels = picture(shape);
  const Bytes tile =
      encode_jpeg_tile(reinterpret_cast<const std::uint8_t*>(pixels.data()), 48, 64, 192, 80);
  Bytes joined = encode_jpeg_tables(80);
  joined.resize(joined.size() - 2);
  joined.insert(joined.end(), tile.begin() + 2, tile.end());
  EXPECT_EQ(decode_plainly(joined),
            decode_plainly(encoded(pixels, shape, 80, JpegSubsampling::s420)));
  error_of(ErrorCode::usage, [] { encode_jpeg_tables(0); });
  error_of(ErrorCode::usage, [] { encode_jpeg_tile(nullptr, 0, 0, 0, 80); });
}

TEST(Jpeg, ACheckLooksAtHeaderAndEnd) {
  const JpegShape shape{32, 48, 3};
  Bytes jpeg = encoded(picture(shape), shape, 90, JpegSubsampling::s420);
  check_jpeg(jpeg, "test", shape);
  error_of(ErrorCode::corrupt, [&] { check_jpeg(jpeg, "test", {48, 32, 3}); });
  jpeg.insert(jpeg.end(), 5, std::byte{0});  // as some writers leave them
  check_jpeg(jpeg, "test", shape);
  jpeg.resize(jpeg.size() - 7);
  EXPECT_EQ(error_of(ErrorCode::corrupt, [&] { check_jpeg(jpeg, "test", shape); }),
            "test: the JPEG has no end: it was cut off");
}

}  // namespace
}  // namespace headrace::pixels
