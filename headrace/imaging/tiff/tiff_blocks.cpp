#include "headrace/imaging/tiff/tiff_blocks.hpp"

#include <algorithm>
#include <cstdint>

#include "headrace/core/error.hpp"

namespace headrace::imaging {
namespace {

void check_count(const storage::Object& file, const TiffDirectory& d) {
  if (d.tile_width < 1 || d.tile_height < 1) {
    fail(ErrorCode::malformed, "{}: the TIFF directory at byte {} states tiles of {}x{} pixels",
         file.describe(), d.at, d.tile_width, d.tile_height);
  }
  // Both are below 2^32.
  const auto needed = static_cast<std::uint64_t>(d.tiles_across()) *
                      static_cast<std::uint64_t>(std::max<std::int64_t>(d.tiles_down(), 0));
  const std::uint64_t planes = d.planar == 2 ? std::max<std::uint16_t>(d.samples, 1) : 1;
  const std::uint64_t listed = std::min(d.tile_offsets.size(), d.tile_bytes.size());
  if (listed / planes >= needed) return;
  fail(
      ErrorCode::corrupt,
      "{}: the TIFF directory at byte {} lists {} tiles, but {} are needed for {}x{} pixels in tiles "
      "of {}x{}; it is damaged. Copy the file again from where it came",
      file.describe(), d.at, listed / planes, needed, d.width, d.height, d.tile_width,
      d.tile_height);
}

void check_places(const storage::Object& file, const TiffDirectory& d) {
  const std::size_t listed = std::min(d.tile_offsets.size(), d.tile_bytes.size());
  for (std::size_t i = 0; i < listed; ++i) {
    const std::uint64_t at = d.tile_offsets[i], bytes = d.tile_bytes[i];
    if (d.is_missing(i) || (at <= file.size_bytes() && bytes <= file.size_bytes() - at)) continue;
    fail(
        ErrorCode::corrupt,
        "{}: tile {} of the TIFF directory at byte {} lies at bytes {} to {}, but the file ends at "
        "{}; it is truncated or damaged. Copy it again from where it came",
        file.describe(), i, d.at, at, at + bytes, file.size_bytes());
  }
}

}  // namespace

void check_tiff_blocks(const storage::Object& file, const std::vector<TiffDirectory>& directories) {
  for (const TiffDirectory& d : directories) {
    const bool tiled = d.tiled() || d.tile_width > 0 || !d.tile_offsets.empty();
    if (!tiled || d.image_depth > 1) continue;
    check_count(file, d);
    check_places(file, d);
  }
}

}  // namespace headrace::imaging
