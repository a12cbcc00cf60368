#include "headrace/pixels/jpeg2000/jpeg2000_decoder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headrace/pixels/jpeg2000/jpeg2000_stream.hpp"
#include "tests/core/error_of.hpp"
#include "tests/pixels/jpeg2000_kinds.hpp"

namespace headrace::pixels {
namespace {

using test::encode_jpeg2000;
using test::Jpeg2000Kind;
using test::noisy_picture;
using testing::HasSubstr;
using Bytes = std::vector<std::byte>;
using Pixels = std::vector<std::uint8_t>;

JpegWindow all_of(const JpegShape& shape) { return {0, shape.height, 0, shape.width}; }

Pixels window_of(const Bytes& bytes, const JpegShape& shape, const JpegWindow& window) {
  const std::int64_t row = (window.x1 - window.x0) * shape.components;
  Pixels out(static_cast<std::size_t>((window.y1 - window.y0) * row));
  decode_jpeg2000_window(bytes, "test", shape, window, reinterpret_cast<std::byte*>(out.data()),
                         row);
  return out;
}

/// As readers of slides decode it.
Pixels plainly(const Bytes& bytes, const JpegShape& shape, bool ycbcr) {
  Pixels out(static_cast<std::size_t>(shape.height * shape.width * shape.components));
  decode_jpeg2000_pixels({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
                         shape.height, shape.width, shape.components, ycbcr, out.data(),
                         shape.width * shape.components, "test");
  return out;
}

std::vector<Jpeg2000Kind> kinds() {
  std::vector<Jpeg2000Kind> all;
  for (const bool lossless : {true, false}) {
    for (const JpegShape& shape : {JpegShape{256, 256, 3}, JpegShape{37, 53, 3},
                                   JpegShape{96, 97, 3}, JpegShape{33, 64, 1}}) {
      all.push_back({.shape = shape, .lossless = lossless});
      all.push_back({.shape = shape, .lossless = lossless, .resolutions = 1});
      all.push_back({.shape = shape, .lossless = lossless, .tile = 32});
      all.push_back({.shape = shape, .lossless = lossless, .jp2 = true, .resolutions = 3});
      all.push_back({.shape = shape, .lossless = lossless, .offset = 5});
      if (shape.components < 3) continue;
      all.push_back({.shape = shape, .lossless = lossless, .mct = true});
      all.push_back({.shape = shape, .lossless = lossless, .chroma_x = 2});
      all.push_back({.shape = shape, .lossless = lossless, .chroma_y = 2, .chroma_x = 2});
    }
  }
  return all;
}

std::string name_of(const Jpeg2000Kind& kind) {
  return fmt::format("{}x{}x{} lossless {} mct {} jp2 {} chroma {}x{} resolutions {} tile {} at {}",
                     kind.shape.height, kind.shape.width, kind.shape.components, kind.lossless,
                     kind.mct, kind.jp2, kind.chroma_y, kind.chroma_x, kind.resolutions, kind.tile,
                     kind.offset);
}

TEST(Jpeg2000, LosslessPicturesComeBack) {
  for (const Jpeg2000Kind& kind : kinds()) {
    if (!kind.lossless || kind.chroma_x > 1) continue;
    SCOPED_TRACE(name_of(kind));
    const Pixels pixels = noisy_picture(kind.shape);
    EXPECT_EQ(window_of(encode_jpeg2000(pixels, kind), kind.shape, all_of(kind.shape)), pixels);
  }
}

TEST(Jpeg2000, EveryWindowIsBitIdenticalToTheWholeDecode) {
  std::mt19937 generator(77);
  const auto below = [&](std::int64_t limit) {
    return static_cast<std::int64_t>(generator()) % limit;
  };
  for (const Jpeg2000Kind& kind : kinds()) {
    SCOPED_TRACE(name_of(kind));
    const JpegShape& shape = kind.shape;
    const Bytes bytes = encode_jpeg2000(noisy_picture(shape), kind);
    const Pixels whole = plainly(bytes, shape, false);
    ASSERT_EQ(window_of(bytes, shape, all_of(shape)), whole);
    for (int trial = 0; trial < 12; ++trial) {
      JpegWindow window{below(shape.height), 0, trial % 5 == 0 ? 0 : below(shape.width), 0};
      window.y1 = window.y0 + 1 + below(shape.height - window.y0);
      window.x1 = trial % 3 == 0 ? shape.width : window.x0 + 1 + below(shape.width - window.x0);
      const Pixels got = window_of(bytes, shape, window);
      const auto row = static_cast<std::ptrdiff_t>((window.x1 - window.x0) * shape.components);
      for (std::int64_t y = window.y0; y < window.y1; ++y) {
        const auto have = got.begin() + (y - window.y0) * row;
        const auto want = whole.begin() + (y * shape.width + window.x0) * shape.components;
        ASSERT_TRUE(std::equal(have, have + row, want))
            << "row " << y << " of window y " << window.y0 << "-" << window.y1 << ", x "
            << window.x0 << "-" << window.x1;
      }
    }
  }
}

TEST(Jpeg2000, ACopyOfYcbcrStatesItAndGivesTheReadersPixels) {
  for (const Jpeg2000Kind& kind : kinds()) {
    if (kind.jp2) continue;
    SCOPED_TRACE(name_of(kind));
    const Bytes bytes = encode_jpeg2000(noisy_picture(kind.shape), kind);
    for (const bool ycbcr : {false, true}) {
      const Bytes copy = copy_jpeg2000(bytes, ycbcr);
      EXPECT_EQ(window_of(copy, kind.shape, all_of(kind.shape)), plainly(bytes, kind.shape, ycbcr));
      EXPECT_EQ(copy.size(), bytes.size() + (ycbcr ? 85 : 0));
    }
  }
}

TEST(Jpeg2000, YcbcrBecomesRgbByTheFormulaOfJfif) {
  const JpegShape shape{64, 64, 3};
  Pixels pixels(static_cast<std::size_t>(64 * 64 * 3));
  std::mt19937 generator(5);
  for (auto& value : pixels) value = static_cast<std::uint8_t>(generator());
  const Bytes copy = copy_jpeg2000(encode_jpeg2000(pixels, {.shape = shape}), true);
  const Pixels rgb = window_of(copy, shape, all_of(shape));
  for (std::size_t i = 0; i < rgb.size(); i += 3) {
    const double y = pixels[i], cb = pixels[i + 1] - 128.0, cr = pixels[i + 2] - 128.0;
    const double wanted[] = {y + 1.402 * cr, y - 0.344136 * cb - 0.714136 * cr, y + 1.772 * cb};
    for (std::size_t c = 0; c < 3; ++c)
      ASSERT_NEAR(rgb[i + c], std::clamp(wanted[c], 0.0, 255.0), 0.51) << i;
  }
}

/// The codestream and the boxes before it, as their text would be searched.
std::string text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(Jpeg2000, ACopyHoldsTheCodestreamWithoutTheTextOfComments) {
  const Jpeg2000Kind kind{.shape = {96, 96, 3}, .tile = 48, .comment = "Alice Example, 1950"};
  const Bytes bytes = encode_jpeg2000(noisy_picture(kind.shape), kind);
  const auto at = text_of(bytes).find("Alice");
  ASSERT_NE(at, std::string::npos);
  Bytes wanted = bytes;
  std::fill_n(wanted.begin() + static_cast<std::ptrdiff_t>(at), 19, std::byte{' '});
  EXPECT_EQ(copy_jpeg2000(bytes, false), wanted);
  // What stands behind the end stays behind, and one without an end is damaged.
  Bytes longer = bytes;
  for (const char letter : std::string("Alice")) longer.push_back(static_cast<std::byte>(letter));
  EXPECT_EQ(copy_jpeg2000(longer, false), wanted);
  EXPECT_TRUE(copy_jpeg2000(std::span(bytes).first(bytes.size() - 2), false).empty());
  // The last tile-part may leave its length open.
  const auto last = text_of(bytes).rfind("\xff\x90");
  Bytes open = bytes;
  std::fill_n(open.begin() + static_cast<std::ptrdiff_t>(last + 6), 4, std::byte{0});
  Bytes open_copy = copy_jpeg2000(open, false);
  EXPECT_EQ(window_of(open_copy, kind.shape, all_of(kind.shape)), noisy_picture(kind.shape));
  open.resize(open.size() + 5);
  EXPECT_EQ(copy_jpeg2000(open, false), open_copy);
  // A comment in the header of a tile-part, whose length stays the same.
  const auto sod = text_of(bytes).find("\xff\x93");
  ASSERT_NE(sod, std::string::npos);
  Bytes inside = bytes;
  const std::string comment(
      "\xff\x64\x00\x09\x00\x01"
      "Alice",
      11);
  for (std::size_t i = 0; i < comment.size(); ++i)
    inside.insert(inside.begin() + static_cast<std::ptrdiff_t>(sod + i),
                  static_cast<std::byte>(comment[i]));
  const auto sot = text_of(bytes).find("\xff\x90");
  const auto low = static_cast<std::ptrdiff_t>(sot + 9);  // the last byte of the part's length
  inside[static_cast<std::size_t>(low)] =
      static_cast<std::byte>(std::to_integer<int>(inside[static_cast<std::size_t>(low)]) +
                             static_cast<int>(comment.size()));
  if (std::to_integer<int>(inside[static_cast<std::size_t>(low)]) >= 11) {  // no carry
    const Bytes copied = copy_jpeg2000(inside, false);
    EXPECT_EQ(copied.size(), inside.size());
    EXPECT_EQ(text_of(copied).find("Alice"), std::string::npos);
    EXPECT_EQ(window_of(copied, kind.shape, all_of(kind.shape)), noisy_picture(kind.shape));
  }
}

TEST(Jpeg2000, ACodestreamIsFoundInAJp2File) {
  const Jpeg2000Kind kind{.shape = {64, 80, 3}};
  Jpeg2000Kind boxed = kind;
  boxed.jp2 = true;
  const Bytes bare = encode_jpeg2000(noisy_picture(kind.shape), kind);
  const Bytes file = encode_jpeg2000(noisy_picture(kind.shape), boxed);
  const auto found = find_codestream(file);
  ASSERT_TRUE(found);
  EXPECT_EQ(Bytes(found->codestream.begin(), found->codestream.end()), bare);
  EXPECT_FALSE(found->sycc || found->recoloured);
  const Bytes ycbcr = copy_jpeg2000(bare, true);
  const auto again = find_codestream(ycbcr);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->sycc);
  for (const std::size_t size : {0u, 7u, 12u, 40u, 84u})
    EXPECT_FALSE(find_codestream(std::span(ycbcr).first(size))) << size;
  Bytes reordered = file;
  const auto at = text_of(file).find("colr");
  std::memcpy(reordered.data() + at, "cdef", 4);
  EXPECT_TRUE(find_codestream(reordered)->recoloured);
}

TEST(Jpeg2000, APictureOfAnotherKindIsCorrupt) {
  const JpegShape shape{64, 80, 3};
  const Bytes bytes = encode_jpeg2000(noisy_picture(shape), {.shape = shape});
  const auto refused = [&](const Bytes& data, const JpegShape& expect, const char* text) {
    const std::string said =
        error_of(ErrorCode::corrupt, [&] { window_of(data, expect, all_of(expect)); });
    EXPECT_THAT(said, HasSubstr(text));
  };
  refused(bytes, {64, 81, 3}, "80x64 pixels of 3 components, expected 81x64");
  refused(bytes, {65, 80, 3}, "80x64 pixels of 3 components, expected 80x65");
  refused(bytes, {64, 80, 1}, "of 3 components, expected 80x64 of 1");
  refused(encode_jpeg2000(noisy_picture(shape), {.shape = shape, .precision = 12}), shape,
          "not all 8 bits");
  refused({}, shape, "no header");
  refused(Bytes(200), shape, "no header");
}

TEST(Jpeg2000, TilesThatAreOnlyClaimedTakeNoMemory) {
  const JpegShape shape{256, 256, 3};
  Bytes bytes = encode_jpeg2000(noisy_picture(shape), {.shape = shape});
  const auto claim = [&](std::size_t field, std::uint32_t value) {  // of SIZ, from Xsiz on
    for (std::size_t i = 0; i < 4; ++i)
      bytes[8 + 4 * field + i] = static_cast<std::byte>(value >> (24 - 8 * i));
  };
  claim(4, 1);
  claim(5, 1);
  EXPECT_THAT(error_of(ErrorCode::corrupt, [&] { window_of(bytes, shape, all_of(shape)); }),
              HasSubstr("65536 tiles"));
  claim(0, 0xffffffff);
  claim(1, 0xffffffff);
  error_of(ErrorCode::corrupt, [&] { window_of(bytes, shape, all_of(shape)); });
  const JpegShape huge{4294967295, 4294967295, 3};
  EXPECT_THAT(error_of(ErrorCode::corrupt,
                       [&] {
                         window_of(bytes, huge, {0, 1, 0, 1});
                       }),
              HasSubstr("tiles"));
}

TEST(Jpeg2000, ACutPictureIsCorrupt) {
  for (const bool jp2 : {false, true}) {
    const Jpeg2000Kind kind{.shape = {64, 64, 3}, .lossless = false, .jp2 = jp2};
    const Bytes bytes = encode_jpeg2000(noisy_picture(kind.shape), kind);
    for (std::size_t size = 0; size + 2 < bytes.size(); size += 1 + size / 40) {
      const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      error_of(ErrorCode::corrupt, [&] { window_of(cut, kind.shape, all_of(kind.shape)); });
      const auto stream = find_codestream(cut);
      EXPECT_TRUE(!stream || copy_jpeg2000(stream->codestream, false).empty()) << size;
    }
  }
}

TEST(Jpeg2000, ChangedBytesGivePixelsOrOneError) {
  const Jpeg2000Kind kind{.shape = {64, 64, 3}, .lossless = false, .mct = true};
  const Bytes bytes = encode_jpeg2000(noisy_picture(kind.shape), kind);
  std::mt19937 generator(9);
  int decoded = 0, refused = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    Bytes changed = bytes;
    // Half of them in the headers, where lengths and counts stand.
    const std::size_t reach = trial % 2 == 0 ? 140 : bytes.size();
    for (int i = 0; i <= trial % 3; ++i)
      changed[generator() % reach] = static_cast<std::byte>(generator());
    try {
      window_of(changed, kind.shape, {3, 40, 5, 60});
      ++decoded;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::corrupt) << error.what();
      ++refused;
    }
    copy_jpeg2000(changed, trial % 4 == 0);
  }
  EXPECT_GT(decoded, 100);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace headrace::pixels
