#include "headrace/imaging/tiff/jpeg_splice.hpp"

#include "headrace/pixels/jpeg/jpeg_markers.hpp"

namespace headrace::imaging {

std::optional<std::vector<std::byte>> splice_jpeg_tile(std::span<const std::byte> tables,
                                                       std::span<const std::byte> tile,
                                                       bool photometric_rgb, std::int64_t height,
                                                       std::int64_t width) {
  if (!pixels::has_jpeg_start(tile)) return std::nullopt;
  std::vector<std::byte> segments;
  segments.reserve(tables.size() + 1024);
  pixels::JpegMarkers markers;
  if (!tables.empty()) {
    if (!pixels::has_jpeg_start(tables)) return std::nullopt;
    auto rest = tables.subspan(2);
    if (!pixels::read_jpeg_segments(rest, markers, &segments)) return std::nullopt;
  }
  auto rest = tile.subspan(2);
  constexpr std::byte kSos{0xDA};
  if (!pixels::read_jpeg_segments(rest, markers, &segments) || rest[1] != kSos || !markers.frame)
    return std::nullopt;
  if (markers.components != 3 || markers.height != height || markers.width != width)
    return std::nullopt;

  std::vector<std::byte> out;
  out.reserve(segments.size() + rest.size() + 20);
  const auto append = [&](std::span<const std::byte> bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
  };
  append(tile.first(2));
  if (photometric_rgb) {
    pixels::append_adobe_marker(out, 0);
  } else if (markers.letters) {
    // Without a colour marker libjpeg takes components named R, G, B for RGB.
    pixels::append_adobe_marker(out, 1);
  }
  append(segments);
  pixels::append_jpeg_scans(rest, out);
  return out;
}

}  // namespace headrace::imaging
