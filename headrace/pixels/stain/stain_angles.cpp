#include "headrace/pixels/stain/stain_angles.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headrace::pixels {

std::array<double, 2> stain_angles(const std::array<double, 6>& stain_od_rgb_he,
                                   const std::array<double, 6>& reference_od_rgb_he) {
  std::array<double, 2> degrees{};
  for (std::size_t stain = 0; stain < 2; ++stain) {
    double dot = 0, own = 0, other = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const double a = stain_od_rgb_he[2 * c + stain], b = reference_od_rgb_he[2 * c + stain];
      dot += a * b;
      own += a * a;
      other += b * b;
    }
    const double cosine = dot / std::sqrt(own * other);
    degrees[stain] = std::acos(std::clamp(cosine, -1.0, 1.0)) * 180 / std::numbers::pi;
  }
  return degrees;
}

}  // namespace headrace::pixels
