#include "learn/predict/quality/stain_fit.hpp"

#include <cmath>

#include "headrace/pixels/stain/stain_estimate.hpp"

namespace headrace::predict {

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
