#include "headrace/transform/slide/operations/slide_scanner_color.hpp"

#include "headrace/core/error.hpp"
#include "headrace/transform/slide/slide_draw.hpp"

namespace headrace::transform {

Fields ScannerColorSpec::fields() { return {}; }

void ScannerColorSpec::draw(SlideDraw& draw) const {
  if (!draw.colour.has_scanner) {
    fail(ErrorCode::usage,
         "transforms: scanner_color needs the scanner's colour statistics, and the store has "
         "none for this image; name the "
         "scanner in the cohort table at ingest, or leave scanner_color out");
  }
  draw.program.density(scanner_standardization(draw.colour));
}

ColourAffine scanner_standardization(const ImageColour& colour) {
  ColourAffine out;
  for (int channel = 0; channel < 3; ++channel) {
    const double spread = colour.scanner_od_std[channel];
    if (!(spread > 0)) {
      fail(ErrorCode::malformed,
           "the scanner's optical-density spread of channel {} is {}: expected more than 0",
           channel, spread);
    }
    const double gain = colour.cohort_od_std[channel] / spread;
    out.m[channel * 5] = gain;
    out.m[channel * 4 + 3] =
        colour.cohort_od_mean[channel] - gain * colour.scanner_od_mean[channel];
  }
  return out;
}

}  // namespace headrace::transform
