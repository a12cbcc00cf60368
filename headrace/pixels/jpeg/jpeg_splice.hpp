#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "headrace/pixels/jpeg/jpeg_markers.hpp"

namespace headrace::pixels {

/// Makes the abbreviated JPEG of one TIFF tile self-contained: the tables of tag JPEGTables go in
/// front of the tile's own segments, and the colour markers are made to agree with the directory's
/// photometric tag, since decoders follow the markers: for RGB, JFIF markers are removed and an
/// Adobe APP14 with transform 0 is added; for YCbCr a contradicting APP14 is removed. Comments, EXIF
/// and other data of applications, and bytes behind the end marker, are left out. Nothing is
/// decoded: quantised coefficients are copied as they are. Safe from any thread.
///
/// source   TIFF Technical Note 2 (abbreviated datastreams); ITU-T T.81 B.2; Adobe TN 5116 section
///          18 (APP14)
/// markers  what both state; its colours are those before they were made to agree
/// out      the JPEG
/// returns  false where `tile` or `tables` are no JPEG streams, or no picture of three components
bool splice_jpeg(std::span<const std::byte> tables, std::span<const std::byte> tile,
                 bool photometric_rgb, JpegMarkers& markers, std::vector<std::byte>& out);

}  // namespace headrace::pixels
