#include "headrace/pixels/jpeg/jpeg_markers.hpp"

#include <array>
#include <cstring>

namespace headrace::pixels {
namespace {

constexpr unsigned kSoi = 0xD8, kEoi = 0xD9, kSos = 0xDA, kApp0 = 0xE0, kApp14 = 0xEE;
// Of a segment, with its two marker bytes: Adobe's transform is the last of its twelve bytes.
constexpr std::size_t kHead = 4, kAdobeTransform = kHead + 11;
constexpr unsigned kNoTransform = 0, kYCbCrTransform = 1;

unsigned byte_at(std::span<const std::byte> bytes, std::size_t i) {
  return std::to_integer<unsigned>(bytes[i]);
}

/// Whether a segment decides about pixels: frames, Huffman and arithmetic tables, quantisation, the
/// number of lines, restart intervals, progressions.
bool is_of_pixels(unsigned marker) {
  return (marker >= 0xC0 && marker <= 0xCF && marker != 0xC8) || (marker >= 0xDB && marker <= 0xDF);
}

bool is_frame(unsigned marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

/// One marker segment at the front of `rest`, with its two marker bytes; empty when there is none.
std::span<const std::byte> next_segment(std::span<const std::byte> rest) {
  if (rest.size() < kHead || byte_at(rest, 0) != 0xFF) return {};
  const std::size_t length = 2 + byte_at(rest, 2) * 256 + byte_at(rest, 3);
  if (length < kHead || length > rest.size()) return {};
  return rest.first(length);
}

void read_frame(std::span<const std::byte> segment, JpegMarkers& markers) {
  if (segment.size() < 10) return;
  markers.frame = true;
  markers.height = byte_at(segment, 5) * 256 + byte_at(segment, 6);
  markers.width = byte_at(segment, 7) * 256 + byte_at(segment, 8);
  markers.components = byte_at(segment, 9);
  markers.letters = markers.components == 3 && segment.size() >= 19 &&
                    byte_at(segment, 10) == 'R' && byte_at(segment, 13) == 'G' &&
                    byte_at(segment, 16) == 'B';
}

bool has_prefix(std::span<const std::byte> segment, const char* text, std::size_t length) {
  return segment.size() >= kHead + length && std::memcmp(segment.data() + kHead, text, length) == 0;
}

/// Whether it is a colour marker, which is then noted.
bool read_colour(unsigned marker, std::span<const std::byte> segment, JpegMarkers& markers) {
  if (marker == kApp0 && has_prefix(segment, "JFIF", 5)) return markers.jfif = true;
  if (marker != kApp14 || !has_prefix(segment, "Adobe", 5)) return false;
  if (segment.size() > kAdobeTransform) {
    markers.adobe = static_cast<int>(byte_at(segment, kAdobeTransform));
  }
  return true;
}

void append(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

bool has_jpeg_start(std::span<const std::byte> jpeg) {
  return jpeg.size() >= 4 && byte_at(jpeg, 0) == 0xFF && byte_at(jpeg, 1) == kSoi;
}

bool has_jpeg_end(std::span<const std::byte> jpeg) {
  while (!jpeg.empty() && jpeg.back() == std::byte{0}) jpeg = jpeg.first(jpeg.size() - 1);
  return jpeg.size() >= 2 && byte_at(jpeg, jpeg.size() - 2) == 0xFF &&
         byte_at(jpeg, jpeg.size() - 1) == kEoi;
}

bool read_jpeg_segments(std::span<const std::byte>& rest, JpegMarkers& markers,
                        std::vector<std::byte>* out) {
  while (true) {
    while (rest.size() >= 2 && byte_at(rest, 0) == 0xFF && byte_at(rest, 1) == 0xFF)
      rest = rest.subspan(1);
    if (rest.size() < 2 || byte_at(rest, 0) != 0xFF) return false;
    const unsigned marker = byte_at(rest, 1);
    if (marker == kSos || marker == kEoi) return true;
    const auto segment = next_segment(rest);
    if (segment.empty()) return false;
    if (is_frame(marker)) read_frame(segment, markers);
    const bool colour = read_colour(marker, segment, markers);
    if (!colour && out != nullptr && is_of_pixels(marker)) append(*out, segment);
    rest = rest.subspan(segment.size());
  }
}

void append_jpeg_scans(std::span<const std::byte> scans, std::vector<std::byte>& out) {
  while (scans.size() >= 2 && byte_at(scans, 0) == 0xFF) {
    const unsigned marker = byte_at(scans, 1);
    if (marker == kEoi) return append(out, scans.first(2));
    const auto segment = next_segment(scans);
    if (segment.empty()) return;
    if (marker == kSos || is_of_pixels(marker)) append(out, segment);
    std::size_t at = segment.size();
    if (marker == kSos) {
      // Up to the next marker: 0xFF is data before 0, a restart before 0xD0 to 0xD7, and fill before
      // another 0xFF.
      const auto goes_on = [&](unsigned next) {
        return next == 0 || next == 0xFF || (next >= 0xD0 && next <= 0xD7);
      };
      while (at < scans.size()) {
        const auto* found =
            static_cast<const std::byte*>(std::memchr(scans.data() + at, 0xFF, scans.size() - at));
        at = found == nullptr ? scans.size() : static_cast<std::size_t>(found - scans.data());
        if (at + 1 >= scans.size()) at = scans.size();
        if (at == scans.size() || !goes_on(byte_at(scans, at + 1))) break;
        ++at;
      }
      append(out, scans.subspan(segment.size(), at - segment.size()));
    }
    scans = scans.subspan(at);
    while (scans.size() >= 2 && byte_at(scans, 0) == 0xFF && byte_at(scans, 1) == 0xFF)
      scans = scans.subspan(1);
  }
}

bool read_jpeg_markers(std::span<const std::byte> jpeg, JpegMarkers& markers) {
  if (!has_jpeg_start(jpeg)) return false;
  auto rest = jpeg.subspan(2);
  return read_jpeg_segments(rest, markers, nullptr) && markers.frame && byte_at(rest, 1) == kSos;
}

JpegColour colour_of(const JpegMarkers& markers) {
  if (markers.components == 1) return JpegColour::grey;
  if (markers.components != 3) return JpegColour::other;
  const bool rgb = !markers.jfif &&
                   (markers.adobe == int{kNoTransform} || (markers.adobe < 0 && markers.letters));
  return rgb ? JpegColour::rgb : JpegColour::ycbcr;
}

bool says_colour_by_adobe(const JpegMarkers& markers) {
  switch (colour_of(markers)) {
    case JpegColour::rgb:
      return markers.adobe == int{kNoTransform};
    case JpegColour::ycbcr:
      return markers.adobe < 0 || markers.adobe == int{kYCbCrTransform};
    default:
      return true;
  }
}

void append_adobe_marker(std::vector<std::byte>& out, unsigned transform) {
  const std::array<unsigned, 16> marker{0xFF, kApp14, 0,   14, 'A', 'd', 'o', 'b',
                                        'e',  0,      100, 0,  0,   0,   0,   transform};
  for (const unsigned b : marker) out.push_back(std::byte(b));
}

std::vector<std::byte> with_adobe_marker(std::span<const std::byte> jpeg, JpegColour colour) {
  if (!has_jpeg_start(jpeg)) return {};
  std::vector<std::byte> out;
  out.reserve(jpeg.size() + 16);
  append(out, jpeg.first(2));
  append_adobe_marker(out, colour == JpegColour::rgb ? kNoTransform : kYCbCrTransform);
  auto rest = jpeg.subspan(2);
  JpegMarkers markers;
  if (!read_jpeg_segments(rest, markers, &out)) return {};
  append(out, rest);
  return out;
}

}  // namespace headrace::pixels
