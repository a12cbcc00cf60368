#include "headrace/zarr/codec/jpeg_stream.hpp"

#include <cstdio>

#include <jpeglib.h>

#include "tests/zarr/zarr_test_data.hpp"

namespace headrace::zarr {
namespace {

using test::error_of;

// Coloured noise over slopes: every coefficient and every clamp of the decoder is met.
std::vector<std::byte> picture(const JpegShape& shape) {
  std::mt19937 generator(31);
  std::vector<std::byte> out(
      static_cast<std::size_t>(shape.height * shape.width * shape.components));
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
std::vector<std::byte> decode_plainly(const std::vector<std::byte>& jpeg) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(jpeg.data()), jpeg.size());
  jpeg_read_header(&info, TRUE);
  jpeg_start_decompress(&info);
  const std::size_t row = info.output_width * static_cast<std::size_t>(info.output_components);
  std::vector<std::byte> out(row * info.output_height);
  while (info.output_scanline < info.output_height) {
    auto* line = reinterpret_cast<JSAMPROW>(out.data() + row * info.output_scanline);
    jpeg_read_scanlines(&info, &line, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return out;
}

// An Adobe marker with transform 0 makes decoders take the three components as RGB.
std::vector<std::byte> marked_rgb(const std::vector<std::byte>& jpeg) {
  static constexpr unsigned char kAdobe[] = {0xff, 0xee, 0,   14, 'A', 'd', 'o', 'b',
                                             'e',  0,    100, 0,  0,   0,   0,   0};
  std::vector<std::byte> out(jpeg.begin(), jpeg.begin() + 2);
  const auto marker = std::as_bytes(std::span(kAdobe));
  out.insert(out.end(), marker.begin(), marker.end());
  const std::size_t jfif = 2 + 2 + 16;  // the JFIF marker would say YCbCr first
  out.insert(out.end(), jpeg.begin() + static_cast<std::ptrdiff_t>(jfif), jpeg.end());
  return out;
}

void expect_windows(const std::vector<std::byte>& jpeg, const JpegShape& shape, int trials) {
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
    std::vector<std::byte> got((row + 3) * static_cast<std::size_t>(window.y1 - window.y0),
                               std::byte{0xee});
    decode_jpeg(jpeg, shape, window, got.data(), static_cast<std::ptrdiff_t>(row + 3));
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
        std::vector<std::byte> jpeg;
        encode_jpeg(pixels.data(), shape.width * shape.components, shape, quality, subsampling,
                    jpeg);
        expect_windows(jpeg, shape, shape.height == 256 ? 120 : 60);
        if (shape.components == 3) expect_windows(marked_rgb(jpeg), shape, 30);
      }
    }
  }
}

TEST(Jpeg, AnAdobeMarkerChangesTheColours) {
  const JpegShape shape{32, 32, 3};
  const auto pixels = picture(shape);
  std::vector<std::byte> jpeg;
  encode_jpeg(pixels.data(), 96, shape, 95, JpegSubsampling::s444, jpeg);
  EXPECT_NE(decode_plainly(jpeg), decode_plainly(marked_rgb(jpeg)));
}

TEST(Jpeg, AnotherSizeOrNumberOfComponentsIsCorrupt) {
  const JpegShape shape{32, 48, 3};
  const auto pixels = picture(shape);
  std::vector<std::byte> jpeg, out(65536);
  encode_jpeg(pixels.data(), 144, shape, 90, JpegSubsampling::s420, jpeg);
  for (const JpegShape& other :
       {JpegShape{48, 32, 3}, JpegShape{32, 47, 3}, JpegShape{32, 48, 1}}) {
    const std::string text = error_of(ErrorCode::corrupt, [&] {
      decode_jpeg(jpeg, other, {0, 1, 0, 1}, out.data(), 48 * 3);
    });
    EXPECT_NE(text.find("32x48 with 3 components"), std::string::npos) << text;
  }
}

TEST(Jpeg, TruncatedImagesAreCorruptWhereTheyAreNeeded) {
  const JpegShape shape{64, 64, 3};
  const auto pixels = picture(shape);
  std::vector<std::byte> jpeg, out(64 * 64 * 3);
  encode_jpeg(pixels.data(), 192, shape, 90, JpegSubsampling::s420, jpeg);
  for (std::size_t size = 0; size + 4 < jpeg.size(); size += 1 + size / 23) {
    SCOPED_TRACE(size);
    error_of(ErrorCode::corrupt, [&] {
      decode_jpeg(std::span(jpeg).first(size), shape, {0, 64, 0, 64}, out.data(), 192);
    });
  }
}

TEST(Jpeg, FlippedBitsNeverCrash) {
  const JpegShape shape{48, 48, 3};
  const auto pixels = picture(shape);
  std::vector<std::byte> jpeg, out(48 * 48 * 3);
  encode_jpeg(pixels.data(), 144, shape, 85, JpegSubsampling::s420, jpeg);
  std::mt19937 generator(41);
  for (int trial = 0; trial < 3000; ++trial) {
    auto damaged = jpeg;
    const std::size_t reach =
        trial % 2 == 0 ? std::min<std::size_t>(640, jpeg.size()) : jpeg.size();
    damaged[generator() % reach] ^= static_cast<std::byte>(1U << generator() % 8);
    const std::int64_t y0 = trial % 3 == 0 ? 17 : 0;
    try {
      decode_jpeg(damaged, shape, {y0, 48, trial % 5, 48 - trial % 7}, out.data(), 144);
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::corrupt) << error.what();
    }
  }
  // The decoder of this thread still works.
  decode_jpeg(jpeg, shape, {0, 48, 0, 48}, out.data(), 144);
  EXPECT_EQ(out, decode_plainly(jpeg));
}

}  // namespace
}  // namespace headrace::zarr
