#include "headrace/transform/slide/operations/slide_stain_normalize.hpp"

#include <numbers>

#include "headrace/core/error.hpp"
#include "headrace/pixels/stain/stain_angles.hpp"
#include "headrace/transform/slide/slide_draw.hpp"
#include "headrace/transform/slide/stain_vectors.hpp"

namespace headrace::transform {

Fields StainNormalizeSpec::fields() {
  return {{"method", form::choice(method), "how stains are separated"},
          {"reference", form::text(reference), "builtin, or an image of the store"}};
}

void StainNormalizeSpec::draw(SlideDraw& draw) const {
  if (!draw.colour.has_stain) {
    fail(ErrorCode::usage,
         "transforms: stain_normalize needs the image's stain estimate, and it has none; ingest "
         "it with enough tissue, or "
         "leave stain_normalize out");
  }
  draw.program.density(stain_normalization(draw.colour, draw.reference));
}

ColourAffine stain_normalization(const ImageColour& slide, const ImageColour& reference) {
  const auto to_concentration = stain_unmixing(slide.stain_od_rgb_he, "the slide");
  ColourAffine out;
  std::array<double, 2> gain{};
  for (int stain = 0; stain < 2; ++stain) {
    const double slide_max = slide.max_concentration[stain];
    if (!(slide_max > 0)) {
      fail(ErrorCode::malformed,
           "the slide's maximum concentration of {} is {}: expected more than 0",
           stain == 0 ? "haematoxylin" : "eosin", slide_max);
    }
    gain[stain] = reference.max_concentration[stain] / slide_max;
  }
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) {
      out.m[r * 4 + c] = reference.stain_od_rgb_he[r * 2] * gain[0] * to_concentration[c] +
                         reference.stain_od_rgb_he[r * 2 + 1] * gain[1] * to_concentration[3 + c];
    }
  }
  return out;
}

ImageColour builtin_reference() {
  ImageColour reference;
  reference.stain_od_rgb_he = pixels::kReferenceOdRgbHe;
  const auto inverse_he = stain_unmixing(reference.stain_od_rgb_he, "the built-in reference");
  constexpr double white = 0.028028723600243537;  // log10(256 / 240)
  const std::array<double, 2> published{1.9705, 1.0308};
  for (int stain = 0; stain < 2; ++stain) {
    const double* row = inverse_he.data() + stain * 3;
    reference.max_concentration[stain] =
        published[stain] / std::numbers::ln10 + (row[0] + row[1] + row[2]) * white;
  }
  reference.has_stain = true;
  return reference;
}

}  // namespace headrace::transform
