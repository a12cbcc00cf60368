#include "headrace/imaging/dicom/coded_frame.hpp"

#include <algorithm>
#include <array>

#include "headrace/core/error.hpp"

namespace headrace::imaging {
namespace {

using Bytes = std::span<const std::uint8_t>;

std::size_t word_at(Bytes code, std::size_t at) {
  std::size_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) word |= static_cast<std::size_t>(code[at + i]) << (8 * i);
  return word;
}

/// Bytes that a segment unpacks to, counted no further than `wanted`.
std::size_t unpacked_bytes(Bytes segment, std::size_t wanted) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < segment.size() && count < wanted;) {
    const std::size_t head = segment[at++];
    if (head == 128) continue;
    const std::size_t length = head < 128 ? head + 1 : 257 - head;
    const std::size_t there = segment.size() - at;
    if (head > 128 && there == 0) break;
    count += head < 128 ? std::min(length, there) : length;
    at += head < 128 ? length : 1;
  }
  return std::min(count, wanted);
}

/// Place of the last marker of a kind; the size where there is none. In coded pixels the byte 255
/// is never followed by one above 127, so none is found there by chance.
std::size_t last_marker(Bytes code, std::uint8_t kind) {
  const std::array<std::uint8_t, 2> marker{0xff, kind};
  const auto found = std::find_end(code.begin(), code.end(), marker.begin(), marker.end());
  return static_cast<std::size_t>(found - code.begin());
}

}  // namespace

void check_rle_frame(Bytes code, std::size_t pixels, std::size_t bytes_per_pixel,
                     const std::string& origin) {
  constexpr std::size_t kHeader = 64;
  if (code.size() < kHeader) {
    fail(ErrorCode::corrupt,
         "{}: {} bytes of RLE, expected a header of {}. The file is truncated or damaged.", origin,
         code.size(), kHeader);
  }
  const std::size_t segments = word_at(code, 0);
  if (segments != bytes_per_pixel) {
    fail(ErrorCode::corrupt,
         "{}: {} segments of RLE, expected {}, one for each byte of a pixel. The file is damaged.",
         origin, segments, bytes_per_pixel);
  }
  for (std::size_t i = 0; i < segments; ++i) {
    const std::size_t begin = word_at(code, 4 + 4 * i);
    const std::size_t end = i + 1 < segments ? word_at(code, 8 + 4 * i) : code.size();
    if (begin < kHeader || begin > code.size() || end < begin) {
      fail(ErrorCode::corrupt,
           "{}: segment {} of RLE begins at byte {} of {}. The file is truncated or damaged.",
           origin, i, begin, code.size());
    }
    const Bytes segment = code.subspan(begin, std::min(end, code.size()) - begin);
    const std::size_t found = unpacked_bytes(segment, pixels);
    if (found < pixels) {
      fail(ErrorCode::corrupt,
           "{}: segment {} of RLE has {} bytes unpacked, expected {}. The file is truncated or "
           "damaged.",
           origin, i, found, pixels);
    }
  }
}

void check_jpeg_frame(Bytes code, const std::string& origin) {
  const std::size_t scan = last_marker(code, 0xda), end = last_marker(code, 0xd9);
  if (scan < code.size() && end < code.size() && scan < end) return;
  fail(ErrorCode::corrupt,
       "{}: its JPEG of {} bytes has no end of image. The file is truncated or damaged.", origin,
       code.size());
}

}  // namespace headrace::imaging
