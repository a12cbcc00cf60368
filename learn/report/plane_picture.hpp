#pragma once
#include <cstdint>
#include <vector>

#include "headrace/pixels/image.hpp"

namespace headrace::report {

/// A plane through a volume: grey values 0 to 1, the truth, and the prediction; (height, width).
struct Plane {
  std::int64_t height = 0, width = 0;
  double row_mm = 1, column_mm = 1;  ///< from row to row, from column to column
  std::vector<float> values;
  std::vector<std::uint8_t> truth;      ///< outlined in the colour of each class but 0
  std::vector<std::uint8_t> predicted;  ///< tinted; empty: no prediction
};

/// The plane as a picture in the patient's proportions, its longer side `longest_px`. Pixels
/// without annotation (255) do not change.
pixels::Image8 plane_picture(const Plane& plane, std::int64_t longest_px);

}  // namespace headrace::report
