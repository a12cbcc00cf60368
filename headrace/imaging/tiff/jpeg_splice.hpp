#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace headrace::imaging {

/// Makes the abbreviated JPEG of one TIFF tile self-contained: the tables of tag JPEGTables go in
/// front of the tile's own segments, and the colour markers are made to agree with the directory's
/// photometric tag, since decoders follow the markers: for RGB, JFIF markers are removed and an
/// Adobe APP14 with transform 0 is added; for YCbCr a contradicting APP14 is removed. Comments, EXIF and
/// other data of applications, and bytes behind the end marker, are left out. Nothing is decoded:
/// quantised coefficients are copied as they are.
///
/// source  TIFF Technical Note 2 (abbreviated datastreams); ITU-T T.81 B.2; Adobe TN 5116 section
/// 18 (APP14)
/// out     empty when `tile` or `tables` are not JPEG streams of height x width with three
///         components
std::optional<std::vector<std::byte>> splice_jpeg_tile(std::span<const std::byte> tables,
                                                       std::span<const std::byte> tile,
                                                       bool photometric_rgb, std::int64_t height,
                                                       std::int64_t width);

}  // namespace headrace::imaging
