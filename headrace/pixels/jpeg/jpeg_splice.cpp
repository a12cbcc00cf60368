#include "headrace/pixels/jpeg/jpeg_splice.hpp"

namespace headrace::pixels {

bool splice_jpeg(std::span<const std::byte> tables, std::span<const std::byte> tile,
                 bool photometric_rgb, JpegMarkers& markers, std::vector<std::byte>& out) {
  constexpr std::byte kSos{0xDA};
  constexpr std::size_t kAdobeBytes = 16;
  markers = {};
  out.clear();
  if (!has_jpeg_start(tile)) return false;
  out.reserve(tables.size() + tile.size() + kAdobeBytes);
  out.insert(out.end(), tile.begin(), tile.begin() + 2);
  if (photometric_rgb) append_adobe_marker(out, 0);
  const std::size_t segments = out.size();
  if (!tables.empty()) {
    if (!has_jpeg_start(tables)) return false;
    auto rest = tables.subspan(2);
    if (!read_jpeg_segments(rest, markers, &out)) return false;
  }
  auto rest = tile.subspan(2);
  if (!read_jpeg_segments(rest, markers, &out) || rest.size() < 2 || rest[1] != kSos ||
      !markers.frame || markers.components != 3)
    return false;
  if (!photometric_rgb && markers.letters) {
    // Without a colour marker libjpeg takes components named R, G, B for RGB.
    std::vector<std::byte> adobe;
    append_adobe_marker(adobe, 1);
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(segments), adobe.begin(), adobe.end());
  }
  append_jpeg_scans(rest, out);
  return true;
}

}  // namespace headrace::pixels
