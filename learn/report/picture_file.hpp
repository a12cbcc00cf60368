#pragma once
#include <string>

#include "headrace/pixels/image.hpp"

namespace headrace::report {

/// The bytes of an 8-bit PNG file, as the pages of a report show it. Errors: usage (neither 1 nor 3
/// channels).
std::string picture_file(const pixels::Image8& image);

/// The bytes of a JPEG of full chroma, quality 88, of an RGB picture: a tenth of the PNG for tissue.
std::string photo_file(const pixels::Image8& image);

}  // namespace headrace::report
