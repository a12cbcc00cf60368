#include "headrace/predict/quality/stain_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "headrace/pixels/stain/stain_estimate.hpp"

namespace headrace::predict {

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

double colour_distance(const ImageColour& colour, const loader::OdStats& run) {
  const pixels::OdMoments moments{colour.od_pixels, colour.od_sum, colour.od_product};
  const auto mean = moments.mean();
  double squares = 0, variance = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    squares += (mean[c] - run.mean[c]) * (mean[c] - run.mean[c]);
    variance += run.std[c] * run.std[c];
  }
  return variance > 0 ? std::sqrt(squares / variance) : 0;
}

}  // namespace headrace::predict
