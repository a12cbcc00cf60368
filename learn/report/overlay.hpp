#pragma once
#include <cstdint>
#include <span>

#include "headrace/pixels/image.hpp"

namespace headrace::report {

/// A picture with its classes overlaid: each class but 0 tints its pixels, and its border is drawn
/// in full colour. 255 (not annotated) is greyed.
///
/// in      rgb     (height, width, 3)
///         labels  (height, width)
pixels::Image8 overlay(const pixels::Image8& rgb, std::span<const std::uint8_t> labels);

}  // namespace headrace::report
