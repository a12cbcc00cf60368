#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace headrace::imaging {

// Whether the code of a frame holds all of its pixels, where the decoder does not say.

/// RLE (PS3.5 annex G): as many segments as bytes a pixel, each within the frame and of `pixels`
/// bytes once unpacked. Errors: corrupt; it begins with `origin`.
void check_rle_frame(std::span<const std::uint8_t> code, std::size_t pixels,
                     std::size_t bytes_per_pixel, const std::string& origin);

/// JPEG and JPEG-LS: the end of image follows the last scan. Errors: corrupt; it begins with
/// `origin`.
void check_jpeg_frame(std::span<const std::uint8_t> code, const std::string& origin);

}  // namespace headrace::imaging
