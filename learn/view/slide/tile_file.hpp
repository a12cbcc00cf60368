#pragma once
#include <memory>

#include "headrace/pixels/image.hpp"
#include "headrace/pixels/palette.hpp"
#include "learn/view/http/http_message.hpp"

namespace headrace::view {

/// An RGB tile as a JPEG of quality 85.
std::shared_ptr<const Bytes> jpeg_tile(const pixels::Image8& rgb);

/// Class values in the colours of pixels::class_colour as an RGBA PNG; transparent where 0, not
/// predicted or not annotated.
std::shared_ptr<const Bytes> class_tile(const pixels::Image8& values);

/// A probability · 255 as an RGBA PNG: one colour, as opaque as it is probable.
std::shared_ptr<const Bytes> probability_tile(const pixels::Image8& values, pixels::Rgb colour);

}  // namespace headrace::view
