// The colours that a JPEG's markers state against what libjpeg takes them for, and the check of a
// JPEG's data against decoding it.
#include "headrace/pixels/jpeg/jpeg_markers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/pixels/jpeg/jpeg_data.hpp"
#include "headrace/pixels/jpeg/jpeg_decoder.hpp"
#include "tests/pixels/jpeg_kinds.hpp"

namespace headrace::pixels {
namespace {

using fixtures::Jpeg;

constexpr int kEdge = 96;

Jpeg jpeg_of(J_COLOR_SPACE stored, bool progressive = false) {
  return fixtures::written_jpeg(fixtures::colourful(kEdge, kEdge, stored == JCS_GRAYSCALE ? 1 : 3),
                                kEdge, kEdge, stored, progressive);
}

/// An Adobe marker of this transform behind SOI.
Jpeg with_adobe(Jpeg jpeg, unsigned transform) {
  Jpeg marker;
  append_adobe_marker(marker, transform);
  jpeg.insert(jpeg.begin() + 2, marker.begin(), marker.end());
  return jpeg;
}

std::vector<Jpeg> all_kinds() {
  std::vector<Jpeg> kinds{jpeg_of(JCS_YCbCr), jpeg_of(JCS_RGB), jpeg_of(JCS_GRAYSCALE),
                          jpeg_of(JCS_RGB, true)};
  Jpeg bare = jpeg_of(JCS_YCbCr);
  fixtures::without_segment(bare, 0xE0);
  for (const unsigned transform : {0u, 1u, 2u}) {
    kinds.push_back(with_adobe(bare, transform));
    kinds.push_back(with_adobe(jpeg_of(JCS_YCbCr), transform));
  }
  const unsigned names[][3] = {{1, 2, 3}, {0, 1, 2}, {'R', 'G', 'B'}, {'r', 'g', 'b'}};
  for (const auto& name : names) {
    kinds.push_back(bare);
    fixtures::name_components(kinds.back(), name);
    kinds.push_back(with_adobe(kinds.back(), 1));
  }
  kinds.push_back(jpeg_of(JCS_YCbCr));
  fixtures::name_components(kinds.back(), {'R', 'G', 'B'});
  return kinds;
}

/// As a tile is copied into a store.
Jpeg copied(const Jpeg& jpeg) {
  std::span<const std::byte> rest(jpeg);
  Jpeg out(jpeg.begin(), jpeg.begin() + 2);
  rest = rest.subspan(2);
  JpegMarkers markers;
  EXPECT_TRUE(read_jpeg_segments(rest, markers, &out));
  append_jpeg_scans(rest, out);
  return out;
}

TEST(JpegMarkers, CopiesOnlyWhatDecidesAboutPixels) {
  for (const bool progressive : {false, true}) {
    Jpeg bare = jpeg_of(JCS_YCbCr, progressive);
    fixtures::without_segment(bare, 0xE0);
    EXPECT_EQ(copied(bare), bare);
    Jpeg told = bare;
    const auto put = [&](std::size_t at, unsigned marker, const std::string& text) {
      Jpeg segment{std::byte{0xFF}, std::byte(marker), std::byte{0}, std::byte(text.size() + 2)};
      for (const char c : text) segment.push_back(std::byte(c));
      told.insert(told.begin() + static_cast<std::ptrdiff_t>(at), segment.begin(), segment.end());
    };
    put(told.size() - 2, 0xFE, "a comment before the end");
    put(2, 0xE1, "Exif: patient");
    put(2, 0xFE, "a comment");
    for (const char c : std::string("behind the end")) told.push_back(std::byte(c));
    EXPECT_EQ(copied(told), bare);
    // Cut data are copied as far as they go, so that decoders tell the damage.
    EXPECT_EQ(copied(Jpeg(bare.begin(), bare.end() - 40)), Jpeg(bare.begin(), bare.end() - 40));
  }
}

/// What libjpeg's header says, and how it would be read by a decoder that knows Adobe's alone.
struct Seen {
  JpegColour by_libjpeg = JpegColour::other, by_adobe = JpegColour::ycbcr;
};
Seen seen(const Jpeg& jpeg) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  errors.emit_message = [](j_common_ptr, int) {};
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(jpeg.data()), jpeg.size());
  jpeg_read_header(&info, TRUE);
  Seen out;
  const J_COLOR_SPACE space = info.jpeg_color_space;
  out.by_libjpeg = space == JCS_RGB         ? JpegColour::rgb
                   : space == JCS_GRAYSCALE ? JpegColour::grey
                   : space == JCS_YCbCr     ? JpegColour::ycbcr
                                            : JpegColour::other;
  if (info.num_components == 1) out.by_adobe = JpegColour::grey;
  if (info.saw_Adobe_marker && info.Adobe_transform == 0) out.by_adobe = JpegColour::rgb;
  jpeg_destroy_decompress(&info);
  return out;
}

std::vector<std::uint8_t> decoded(const Jpeg& jpeg) {
  std::vector<std::uint8_t> pixels(kEdge * kEdge * 3);
  decode_jpeg_rgb(jpeg, "test", kEdge, kEdge, pixels.data(), kEdge * 3);
  return pixels;
}

TEST(JpegMarkers, StateTheColoursThatLibjpegTakes) {
  int number = 0, rgb = 0, restated = 0;
  for (const Jpeg& jpeg : all_kinds()) {
    SCOPED_TRACE(number++);
    JpegMarkers markers;
    ASSERT_TRUE(read_jpeg_markers(jpeg, markers));
    EXPECT_EQ(markers.height, kEdge);
    EXPECT_EQ(markers.width, kEdge);
    const JpegColour colour = colour_of(markers);
    EXPECT_EQ(colour, seen(jpeg).by_libjpeg);
    rgb += colour == JpegColour::rgb;
    if (says_colour_by_adobe(markers)) {
      EXPECT_EQ(colour, seen(jpeg).by_adobe);
      continue;
    }
    ++restated;
    const Jpeg stated = with_adobe_marker(jpeg, colour);
    EXPECT_EQ(seen(stated).by_libjpeg, colour);
    EXPECT_EQ(seen(stated).by_adobe, colour);
    EXPECT_EQ(decoded(stated), decoded(jpeg));
    JpegMarkers again;
    ASSERT_TRUE(read_jpeg_markers(stated, again));
    EXPECT_TRUE(says_colour_by_adobe(again));
  }
  EXPECT_GE(rgb, 4);
  EXPECT_GE(restated, 3);
}

TEST(JpegMarkers, OfWhatIsNoJpegAreNotRead) {
  const Jpeg good = jpeg_of(JCS_YCbCr);
  JpegMarkers markers;
  for (std::size_t size = 0; size < fixtures::segment_of(good, 0xDA).first; ++size) {
    EXPECT_FALSE(read_jpeg_markers({good.data(), size}, markers)) << size;
  }
  EXPECT_TRUE(has_jpeg_end(good));
  EXPECT_FALSE(has_jpeg_end({good.data(), good.size() - 2}));
  Jpeg padded = good;
  padded.resize(good.size() + 7);
  EXPECT_TRUE(has_jpeg_end(padded));
  EXPECT_TRUE(with_adobe_marker({good.data() + 1, good.size() - 1}, JpegColour::rgb).empty());
}

/// Four runs of 16 zeros in one block: libjpeg takes it, and what a GPU would do is anybody's guess.
TEST(JpegData, IsNotSoundWhereABlockIsTooLong) {
  const Jpeg good = fixtures::written_jpeg(fixtures::colourful(8, 8, 1), 8, 8, JCS_GRAYSCALE);
  const auto [scan, length] = fixtures::segment_of(good, 0xDA);
  const auto with_data = [&](const std::string& bits) {
    Jpeg jpeg(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(scan + length));
    for (std::size_t i = 0; i < bits.size(); i += 8) {
      unsigned byte = 0;
      for (std::size_t k = 0; k < 8; ++k)
        byte = byte * 2 + (i + k < bits.size() ? bits[i + k] == '1' : 1);
      jpeg.push_back(std::byte(byte));
      if (byte == 0xFF) jpeg.push_back(std::byte{0});
    }
    jpeg.insert(jpeg.end(), {std::byte{0xFF}, std::byte{0xD9}});
    std::vector<std::byte> out(64);
    decode_jpeg_window(jpeg, "test", {8, 8, 1}, {0, 8, 0, 8}, out.data(), 8);
    return jpeg;
  };
  // T.81, tables K.3 and K.5: no difference of DC; ZRL; end of block.
  const std::string dc = "00", zeros = "11111111001", end = "1010";
  EXPECT_TRUE(jpeg_data_is_sound(with_data(dc + end)));
  EXPECT_TRUE(jpeg_data_is_sound(with_data(dc + zeros + zeros + zeros + end)));
  EXPECT_FALSE(jpeg_data_is_sound(with_data(dc + zeros + zeros + zeros + zeros)));
}

/// Sound where libjpeg decodes without a warning, and never where it warns or fails.
TEST(JpegData, IsSoundWhereLibjpegFindsNothing) {
  struct Kind {
    J_COLOR_SPACE stored;
    int restart_rows, sampling, height, width;
  };
  const Kind kinds[] = {{JCS_YCbCr, 0, 2, 96, 96},     {JCS_YCbCr, 0, 1, 93, 75},
                        {JCS_YCbCr, 1, 2, 100, 130},   {JCS_RGB, 0, 1, 96, 96},
                        {JCS_GRAYSCALE, 0, 2, 61, 90}, {JCS_GRAYSCALE, 2, 1, 96, 96}};
  for (const Kind& kind : kinds) {
    const int components = kind.stored == JCS_GRAYSCALE ? 1 : 3;
    auto pixels = fixtures::colourful(kind.height, kind.width, components);
    std::mt19937 generator(5);  // codes of all lengths
    for (std::size_t i = 0; i < pixels.size() / 2; ++i) pixels[i] ^= generator() & 127;
    const Jpeg good = fixtures::written_jpeg(pixels, kind.height, kind.width, kind.stored, false,
                                             kind.restart_rows, kind.sampling);
    const JpegShape shape{kind.height, kind.width, components};
    const auto decodes = [&](const Jpeg& jpeg) {
      std::vector<std::byte> out(pixels.size());
      try {
        decode_jpeg_window(jpeg, "test", shape, {0, kind.height, 0, kind.width}, out.data(),
                           kind.width * components);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::corrupt);
        return false;
      }
      return true;
    };
    ASSERT_TRUE(decodes(good));
    EXPECT_TRUE(jpeg_data_is_sound(good));
    int damages = 0, found = 0;
    const std::size_t scan = fixtures::segment_of(good, 0xDA).first;
    const auto look = [&](const Jpeg& damaged) {
      const bool sound = jpeg_data_is_sound(damaged);
      found += !sound;
      ++damages;
      EXPECT_TRUE(!sound || decodes(damaged));
    };
    for (int round = 0; round < 300; ++round) {
      Jpeg damaged = good;
      const std::size_t at = scan + 16 + generator() % (good.size() - scan - 60);
      const auto from = damaged.begin() + static_cast<std::ptrdiff_t>(at);
      switch (round % 4) {
        case 0:
          damaged.erase(from, from + 1 + static_cast<std::ptrdiff_t>(generator() % 40));
          break;
        case 1:
          *from ^= std::byte{static_cast<unsigned char>(1 + generator() % 255)};
          break;
        case 2:
          std::fill(from, from + 30, std::byte{0});
          break;
        default:
          damaged.resize(at);
      }
      look(damaged);
    }
    EXPECT_GT(found, damages / 2) << components;
  }
  EXPECT_FALSE(jpeg_data_is_sound(jpeg_of(JCS_YCbCr, true)));  // not known: the CPU decodes it
}

}  // namespace
}  // namespace headrace::pixels
