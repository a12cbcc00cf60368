#include "headrace/transform/slide/operations/slide_affine.hpp"

#include "headrace/math/trigonometry.hpp"
#include "headrace/transform/slide/slide_draw.hpp"
#include "headrace/transform/spec_reader.hpp"

namespace headrace::transform {

Fields AffineSpec::fields() {
  return {
      {"rotate_deg", range_form(rotate_deg, -360, 360), "degrees to turn by"},
      {"scale", range_form(scale, 0.05, 20), "enlargement"},
      {"shear_deg", range_form(shear_deg, -60, 60), "slant, in degrees"},
      {"translate", form::number(translate, 0, 10), "largest shift, as a part of the edge"},
      {"flip", form::flag(flip), "each axis is mirrored in half of the samples"},
  };
}

void AffineSpec::draw(SlideDraw& draw) const {
  if (!draw.random) return;
  EntryStream numbers = draw.stream();
  const double rotated = numbers.between(rotate_deg[0], rotate_deg[1]);
  const double scaled = numbers.between(scale[0], scale[1]);
  const double sheared = numbers.between(shear_deg[0], shear_deg[1]);
  const double ty = numbers.between(-translate, translate) * draw.patch.height;
  const double tx = numbers.between(-translate, translate) * draw.patch.width;
  const bool flip_y = numbers.chance(0.5) && flip, flip_x = numbers.chance(0.5) && flip;
  double sine, cosine, shear_sine, shear_cosine;
  math::sine_cosine(rotated / 360.0, sine, cosine);
  math::sine_cosine(sheared / 360.0, shear_sine, shear_cosine);
  const Affine2 size{{(flip_y ? -1.0 : 1.0) / scaled, 0, 0, 0, (flip_x ? -1.0 : 1.0) / scaled, 0}};
  const Affine2 slant{{1, 0, 0, shear_sine / shear_cosine, 1, 0}};
  const Affine2 turn{{cosine, sine, ty, -sine, cosine, tx}};
  draw.params.inverse = turn * slant * size;
  draw.record({{"rotate_deg", rotated},
               {"scale", scaled},
               {"shear_deg", sheared},
               {"translate_y_px", ty},
               {"translate_x_px", tx},
               {"flip_y", flip_y},
               {"flip_x", flip_x}});
}

}  // namespace headrace::transform
