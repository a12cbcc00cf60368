#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace headrace::imaging {

/// The tag Orientation of an Exif block, which is a small TIFF: 1 to 8; 1 where it says nothing or
/// is no such block. source: Exif 2.32, 4.6.4 A; TIFF 6.0, section 2.
int exif_orientation(std::span<const std::byte> exif);

/// Why a picture is refused that is stated to be turned or mirrored; nothing for 0 (not stated) and
/// 1. One rule for all files: some programs turn it and some do not, and a mask made in one would
/// not fit the other's.
std::optional<std::string> why_turned(int orientation);

}  // namespace headrace::imaging
