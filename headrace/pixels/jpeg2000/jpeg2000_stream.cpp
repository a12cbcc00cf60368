#include "headrace/pixels/jpeg2000/jpeg2000_stream.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace headrace::pixels {
namespace {

using Bytes = std::span<const std::byte>;

constexpr unsigned kSoc = 0xff4f, kSiz = 0xff51, kSot = 0xff90, kSod = 0xff93, kEoc = 0xffd9,
                   kComment = 0xff64;
constexpr std::uint32_t kEnumeratedSycc = 18;
constexpr std::size_t kSotBytes = 12;  // marker and segment

std::uint32_t number_at(Bytes bytes, std::size_t at, std::size_t size) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < size; ++i)
    number = number << 8 | std::to_integer<std::uint32_t>(bytes[at + i]);
  return number;
}
unsigned marker_at(Bytes bytes, std::size_t at) {
  return at + 2 <= bytes.size() ? number_at(bytes, at, 2) : 0;
}

/// A box of a JP2 file.
struct Jp2Box {
  std::string_view type;
  Bytes content;
};

/// The box at the front of `rest`, which then begins behind it. Nothing where none fits.
std::optional<Jp2Box> next_box(Bytes& rest) {
  if (rest.size() < 8) return std::nullopt;
  const std::string_view type(reinterpret_cast<const char*>(rest.data()) + 4, 4);
  std::uint64_t head = 8, size = number_at(rest, 0, 4);
  if (size == 0) size = rest.size();  // up to the end of the file
  if (size == 1 && rest.size() >= 16) {
    head = 16;
    size = std::uint64_t{number_at(rest, 8, 4)} << 32 | number_at(rest, 12, 4);
  }
  if (size < head || size > rest.size()) return std::nullopt;
  const Jp2Box box{type, rest.subspan(head, size - head)};
  rest = rest.subspan(size);
  return box;
}

void read_jp2_header(Bytes boxes, Jpeg2000Stream& found) {
  bool coloured = false;  // only the first colour counts
  while (const auto box = next_box(boxes)) {
    const Bytes content = box->content;
    if (box->type == "colr" && !coloured && !content.empty()) {
      coloured = true;
      const bool enumerated = content[0] == std::byte{1} && content.size() >= 7;
      found.sycc = enumerated && number_at(content, 3, 4) == kEnumeratedSycc;
    }
    if (box->type == "pclr" || box->type == "cmap" || box->type == "cdef") found.recoloured = true;
  }
}

/// Markers without a length. A.1.1
bool stands_alone(unsigned marker) { return marker >= 0xff30 && marker <= 0xff3f; }

/// Blanks comments from `at` on, which then is the first marker `until` or `or_until`. False: there is
/// none.
bool blank_comments(std::vector<std::byte>& bytes, std::size_t& at, unsigned until,
                    unsigned or_until) {
  for (;;) {
    const unsigned marker = marker_at(bytes, at);
    if (marker == until || marker == or_until) return true;
    if (marker < 0xff00) return false;
    if (stands_alone(marker)) {
      at += 2;
      continue;
    }
    if (at + 4 > bytes.size()) return false;
    const std::size_t length = number_at(bytes, at + 2, 2);
    if (length < 2 || length > bytes.size() - at - 2) return false;
    if (marker == kComment) {
      // Its first two bytes say what it is: 1 is text, which spaces are.
      const std::size_t kept = std::min<std::size_t>(length, 4);
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at + 2 + kept), length - kept,
                  std::byte{' '});
    }
    at += 2 + length;
  }
}

void append_number(std::vector<std::byte>& out, std::uint32_t number, int size) {
  for (int i = size; i-- > 0;) out.push_back(static_cast<std::byte>(number >> (8 * i)));
}
void append_box(std::vector<std::byte>& out, std::uint32_t size, std::string_view type) {
  append_number(out, size, 4);
  for (const char letter : type) out.push_back(static_cast<std::byte>(letter));
}

/// The boxes before a codestream that state sYCC. I.5
std::vector<std::byte> sycc_boxes(const Jpeg2000Size& size, std::size_t codestream_bytes) {
  constexpr std::uint32_t kHeader = 8, kIhdr = 22, kColr = 15;
  std::vector<std::byte> out;
  append_box(out, kHeader + 4, "jP  ");
  append_number(out, 0x0d0a870a, 4);
  append_box(out, kHeader + 12, "ftypjp2 ");
  append_number(out, 0, 4);
  for (const char letter : std::string_view("jp2 ")) out.push_back(static_cast<std::byte>(letter));
  append_box(out, kHeader + kIhdr + kColr, "jp2h");
  append_box(out, kIhdr, "ihdr");
  append_number(out, static_cast<std::uint32_t>(size.height), 4);
  append_number(out, static_cast<std::uint32_t>(size.width), 4);
  append_number(out, static_cast<std::uint32_t>(size.components), 2);
  append_number(out, 0x07070000, 4);  // 8 bits, JPEG 2000, the colour is known, no rights
  append_box(out, kColr, "colr");
  append_number(out, 0x010000, 3);  // enumerated
  append_number(out, kEnumeratedSycc, 4);
  append_box(out, static_cast<std::uint32_t>(kHeader + codestream_bytes), "jp2c");
  return out;
}

}  // namespace

std::optional<Jpeg2000Stream> find_codestream(Bytes bytes) {
  if (marker_at(bytes, 0) == kSoc) return Jpeg2000Stream{bytes, false, false};
  Jpeg2000Stream found;
  for (bool first = true; const auto box = next_box(bytes); first = false) {
    if (first && box->type != "jP  ") return std::nullopt;
    if (box->type == "jp2h") read_jp2_header(box->content, found);
    if (box->type != "jp2c") continue;
    if (marker_at(box->content, 0) != kSoc) return std::nullopt;
    found.codestream = box->content;
    return found;
  }
  return std::nullopt;
}

std::optional<Jpeg2000Size> read_jpeg2000_size(Bytes codestream) {
  constexpr std::size_t kFixed = 42;  // SOC, and SIZ up to its components
  if (codestream.size() < kFixed || marker_at(codestream, 0) != kSoc ||
      marker_at(codestream, 2) != kSiz)
    return std::nullopt;
  const auto field = [&](std::size_t i) {  // Xsiz, Ysiz, XOsiz, … YTOsiz
    return static_cast<std::int64_t>(number_at(codestream, 8 + 4 * i, 4));
  };
  const std::int64_t x1 = field(0), y1 = field(1), x0 = field(2), y0 = field(3);
  const std::int64_t tile_width = field(4), tile_height = field(5);
  const std::int64_t tile_x0 = field(6), tile_y0 = field(7);
  const std::size_t components = number_at(codestream, 40, 2);
  const bool sound = x1 > x0 && y1 > y0 && tile_width > 0 && tile_height > 0 && tile_x0 <= x0 &&
                     tile_y0 <= y0 && components > 0 &&
                     number_at(codestream, 4, 2) == 38 + 3 * components &&
                     codestream.size() >= kFixed + 3 * components;
  if (!sound) return std::nullopt;
  Jpeg2000Size size{y1 - y0, x1 - x0, static_cast<int>(components)};
  const auto tiles_along = [](std::int64_t edge, std::int64_t tile) {
    return std::min<std::int64_t>((edge + tile - 1) / tile, 1 << 16);  // as many as can be numbered
  };
  size.tiles = tiles_along(x1 - tile_x0, tile_width) * tiles_along(y1 - tile_y0, tile_height);
  size.bytes = true;
  size.plain_grid = x0 == 0 && y0 == 0;
  for (std::size_t i = 0; i < components; ++i) {
    const std::size_t at = kFixed + 3 * i;
    size.bytes = size.bytes && codestream[at] == std::byte{7};
    size.plain_grid = size.plain_grid && number_at(codestream, at + 1, 2) == 0x0101;
  }
  return size;
}

std::vector<std::byte> copy_jpeg2000(Bytes codestream, bool ycbcr) {
  const auto size = read_jpeg2000_size(codestream);
  if (!size) return {};
  std::vector<std::byte> bytes(codestream.begin(), codestream.end());
  std::size_t at = 2;
  for (bool first = true;; first = false) {
    if (!blank_comments(bytes, at, kSot, first ? kSot : kEoc)) return {};
    if (marker_at(bytes, at) == kEoc) break;
    if (at + kSotBytes > bytes.size()) return {};
    std::size_t header = at + kSotBytes;
    std::size_t part = number_at(bytes, at + 6, 4);
    if (!blank_comments(bytes, header, kSod, kSod)) return {};
    // The last part may be as long as what is there. Coded data never hold a marker.
    while (part == 0 && marker_at(bytes, header) != kEoc) {
      if (++header >= bytes.size()) return {};
    }
    if (part == 0) part = header - at;
    if (part < header - at || part > bytes.size() - at) return {};
    at += part;
  }
  bytes.resize(at + 2);
  if (!ycbcr) return bytes;
  std::vector<std::byte> file = sycc_boxes(*size, bytes.size());
  file.insert(file.end(), bytes.begin(), bytes.end());
  return file;
}

}  // namespace headrace::pixels
