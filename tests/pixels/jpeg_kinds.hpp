#pragma once
// JPEGs of all kinds that decoders may take differently: written by libjpeg, and changed byte by
// byte where it writes no such ones.
#include <cstdio>
// jpeglib.h needs the one above
#include <jpeglib.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace headrace::pixels::fixtures {

using Jpeg = std::vector<std::byte>;

/// Interleaved, smooth, and of strong colours.
inline std::vector<std::uint8_t> colourful(int height, int width, int components, int seed = 0) {
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < components; ++c) {
        const double wave = std::sin((y + seed) / 19.0 + c * 2) + std::cos(x / 23.0 + c);
        pixels.push_back(static_cast<std::uint8_t>(128 + 60 * wave));
      }
    }
  }
  return pixels;
}

/// stored: the colours of the components (JCS_YCbCr with a JFIF marker, JCS_RGB with Adobe's, or
/// JCS_GRAYSCALE). sampling: of chroma, 2: half as many rows and columns.
inline Jpeg written_jpeg(const std::vector<std::uint8_t>& pixels, int height, int width,
                         J_COLOR_SPACE stored, bool progressive = false, int restart_rows = 0,
                         int sampling = 2) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_height = static_cast<JDIMENSION>(height);
  info.image_width = static_cast<JDIMENSION>(width);
  info.input_components = stored == JCS_GRAYSCALE ? 1 : 3;
  info.in_color_space = stored == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_colorspace(&info, stored);
  jpeg_set_quality(&info, 90, TRUE);
  if (progressive) jpeg_simple_progression(&info);
  info.restart_in_rows = restart_rows;
  if (stored == JCS_YCbCr)
    info.comp_info[0].h_samp_factor = info.comp_info[0].v_samp_factor = sampling;
  jpeg_start_compress(&info, TRUE);
  const int row_bytes = width * info.input_components;
  while (info.next_scanline < info.image_height) {
    auto* row =
        const_cast<JSAMPROW>(pixels.data() + static_cast<int>(info.next_scanline) * row_bytes);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  const auto* bytes = reinterpret_cast<const std::byte*>(memory);
  Jpeg out(bytes, bytes + size);
  std::free(memory);
  return out;
}

/// Where the first segment with this marker begins, and its whole length; {0, 0}: there is none.
inline std::pair<std::size_t, std::size_t> segment_of(const Jpeg& jpeg, unsigned marker) {
  for (std::size_t at = 2; at + 4 <= jpeg.size();) {
    const auto byte = [&](std::size_t i) { return std::to_integer<unsigned>(jpeg[at + i]); };
    const std::size_t length = 2 + byte(2) * 256 + byte(3);
    if (byte(1) == marker) return {at, length};
    if (byte(1) == 0xDA) break;
    at += length;
  }
  return {0, 0};
}

inline void without_segment(Jpeg& jpeg, unsigned marker) {
  const auto [at, length] = segment_of(jpeg, marker);
  const auto begin = jpeg.begin() + static_cast<std::ptrdiff_t>(at);
  jpeg.erase(begin, begin + static_cast<std::ptrdiff_t>(length));
}

/// Renames the three components, in frame and scan.
inline void name_components(Jpeg& jpeg, const unsigned (&names)[3]) {
  const std::size_t frame = segment_of(jpeg, 0xC0).first, scan = segment_of(jpeg, 0xDA).first;
  for (std::size_t c = 0; c < 3; ++c) {
    jpeg[frame + 10 + 3 * c] = std::byte(names[c]);
    jpeg[scan + 5 + 2 * c] = std::byte(names[c]);
  }
}

/// Takes a part out of the middle of the entropy-coded data.
inline void damage_data(Jpeg& jpeg) {
  const std::size_t scan = segment_of(jpeg, 0xDA).first, length = jpeg.size() - scan;
  const auto from = jpeg.begin() + static_cast<std::ptrdiff_t>(scan + length / 2);
  jpeg.erase(from, from + static_cast<std::ptrdiff_t>(length / 4));
}

}  // namespace headrace::pixels::fixtures
