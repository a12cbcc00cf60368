#pragma once
#include <cstddef>
#include <span>
#include <vector>

/// What programs keep in the application segments of a JPEG, before its first scan. Nothing is
/// decoded. Safe from any thread.
namespace headrace::pixels {

/// The colour profile, joined from its APP2 segments; empty where there is none, or where a part of
/// it is missing. source: ICC.1:2022, B.4.
std::vector<std::byte> jpeg_icc_profile(std::span<const std::byte> jpeg);

/// The content of the first Exif segment (APP1), a small TIFF; empty where there is none.
/// source: Exif 2.32, 4.7.2.
std::span<const std::byte> jpeg_exif(std::span<const std::byte> jpeg);

}  // namespace headrace::pixels
