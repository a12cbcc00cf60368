#pragma once
#include <cstdint>
#include <span>

#include "headrace/pixels/image.hpp"

namespace headrace::report {

/// A picture with a line around every class but 0, two pixels wide and inside it, in the class's
/// colour. What is not annotated (255) does not change.
///
/// in      rgb     (height, width, 3)
///         labels  (height, width)
pixels::Image8 outlined(const pixels::Image8& rgb, std::span<const std::uint8_t> labels);

}  // namespace headrace::report
