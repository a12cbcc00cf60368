#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "headrace/pixels/polygon_raster.hpp"

namespace headrace::imaging {

/// The area of the contours of one structure in one slice. A contour within another is cut out of
/// it, one within that is filled again, and so on, as by the even-odd rule. Contours that cross,
/// neither within the other, are parts of one area: the even-odd rule would take away what both
/// have. Of a contour that lies within another but for a twentieth of its pixels, the hand slipped:
/// it is within.
class RingUnion {
 public:
  /// even_odd: contours that cross are cut out as well (CLOSEDPLANAR_XOR).
  RingUnion(const std::vector<pixels::Ring>& rings, bool even_odd);

  /// Contours that cross another one and are joined with it.
  std::size_t joined() const noexcept { return joined_; }
  /// Paints the pixels whose centre (whole coordinates) lies in the area.
  void paint(std::int64_t height, std::int64_t width, std::uint16_t value,
             std::uint16_t* dst) const;

 private:
  using Bits = std::vector<std::uint8_t>;
  Bits area_of_all(const std::vector<std::size_t>& chosen, std::int64_t height,
                   std::int64_t width) const;

  const std::vector<pixels::Ring>& rings_;
  std::vector<std::vector<bool>> within_;  ///< [i][j]: ring i lies within ring j
  std::size_t joined_ = 0;
};

}  // namespace headrace::imaging
