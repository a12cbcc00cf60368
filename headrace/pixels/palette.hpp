#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace headrace::pixels {

using Rgb = std::array<std::uint8_t, 3>;

/// The colour of a class, the same in pictures, tables and curves. Class 0 (background) is grey;
/// for the usual Gleason order benign, HGPIN, 3, 4, 5 they run from green to violet.
Rgb class_colour(std::size_t class_index) noexcept;

std::string css(Rgb colour);  ///< "#rrggbb"

}  // namespace headrace::pixels
