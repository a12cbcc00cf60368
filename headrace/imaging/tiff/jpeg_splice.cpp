#include "headrace/imaging/tiff/jpeg_splice.hpp"

#include <array>
#include <cstring>

namespace headrace::imaging {
namespace {

constexpr unsigned kSoi = 0xD8, kEoi = 0xD9, kSos = 0xDA, kApp0 = 0xE0, kApp14 = 0xEE;

unsigned byte_at(std::span<const std::byte> bytes, std::size_t i) {
  return std::to_integer<unsigned>(bytes[i]);
}

bool is_frame(unsigned marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

/// One marker segment at the front of `rest`, with its two marker bytes; empty when there is none.
std::span<const std::byte> next_segment(std::span<const std::byte> rest) {
  if (rest.size() < 4 || byte_at(rest, 0) != 0xFF) return {};
  const std::size_t length = 2 + byte_at(rest, 2) * 256 + byte_at(rest, 3);
  if (length < 4 || length > rest.size()) return {};
  return rest.first(length);
}

/// What matters of a tile's header.
struct Header {
  bool frame = false, letters = false;
  std::int64_t height = 0, width = 0;
  unsigned components = 0;
};

void read_frame(std::span<const std::byte> segment, Header& header) {
  if (segment.size() < 10) return;
  header.frame = true;
  header.height = byte_at(segment, 5) * 256 + byte_at(segment, 6);
  header.width = byte_at(segment, 7) * 256 + byte_at(segment, 8);
  header.components = byte_at(segment, 9);
  // Without a colour marker libjpeg takes components named R, G, B for RGB.
  if (header.components == 3 && segment.size() >= 19) {
    header.letters =
        byte_at(segment, 10) == 'R' && byte_at(segment, 13) == 'G' && byte_at(segment, 16) == 'B';
  }
}

bool has_prefix(std::span<const std::byte> segment, const char* text, std::size_t length) {
  return segment.size() >= 4 + length && std::memcmp(segment.data() + 4, text, length) == 0;
}

void append(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_adobe(std::vector<std::byte>& out, unsigned transform) {
  const std::array<unsigned, 16> marker{0xFF, kApp14, 0,   14, 'A', 'd', 'o', 'b',
                                        'e',  0,      100, 0,  0,   0,   0,   transform};
  for (const unsigned b : marker) out.push_back(std::byte(b));
}

bool is_stream(std::span<const std::byte> bytes) {
  return bytes.size() >= 4 && byte_at(bytes, 0) == 0xFF && byte_at(bytes, 1) == kSoi;
}

/// Copies the segments up to SOS or EOI without colour markers; `rest` then begins at that SOS or
/// EOI.
bool copy_segments(std::span<const std::byte>& rest, std::vector<std::byte>& out, Header& header) {
  while (true) {
    while (rest.size() >= 2 && byte_at(rest, 0) == 0xFF && byte_at(rest, 1) == 0xFF)
      rest = rest.subspan(1);
    if (rest.size() < 2 || byte_at(rest, 0) != 0xFF) return false;
    const unsigned marker = byte_at(rest, 1);
    if (marker == kSos || marker == kEoi) return true;
    const auto segment = next_segment(rest);
    if (segment.empty()) return false;
    if (is_frame(marker)) read_frame(segment, header);
    const bool colour = (marker == kApp0 && has_prefix(segment, "JFIF", 5)) ||
                        (marker == kApp14 && has_prefix(segment, "Adobe", 5));
    if (!colour) append(out, segment);
    rest = rest.subspan(segment.size());
  }
}

}  // namespace

std::optional<std::vector<std::byte>> splice_jpeg_tile(std::span<const std::byte> tables,
                                                       std::span<const std::byte> tile,
                                                       bool photometric_rgb, std::int64_t height,
                                                       std::int64_t width) {
  if (!is_stream(tile)) return std::nullopt;
  std::vector<std::byte> segments;
  segments.reserve(tables.size() + 1024);
  Header header;
  if (!tables.empty()) {
    if (!is_stream(tables)) return std::nullopt;
    auto rest = tables.subspan(2);
    if (!copy_segments(rest, segments, header)) return std::nullopt;
  }
  auto rest = tile.subspan(2);
  if (!copy_segments(rest, segments, header) || byte_at(rest, 1) != kSos || !header.frame)
    return std::nullopt;
  if (header.components != 3 || header.height != height || header.width != width)
    return std::nullopt;

  std::vector<std::byte> out;
  out.reserve(segments.size() + rest.size() + 20);
  append(out, tile.first(2));
  if (photometric_rgb) {
    append_adobe(out, 0);
  } else if (header.letters) {
    append_adobe(out, 1);
  }
  append(out, segments);
  append(out, rest);
  return out;
}

}  // namespace headrace::imaging
