#include "headrace/transform/slide/operations/slide_affine.hpp"

#include "headrace/math/trigonometry.hpp"
#include "headrace/transform/slide/slide_draw.hpp"
#include "headrace/transform/spec_reader.hpp"

namespace headrace::transform {

void AffineSpec::read(YamlMap& map) {
  rotate_deg = range_of(map, "rotate_deg", rotate_deg, -360, 360);
  scale = range_of(map, "scale", scale, 0.05, 20);
  shear_deg = range_of(map, "shear_deg", shear_deg, -60, 60);
  translate = map.get_double("translate", translate, 0, 10);
  flip = map.get_bool("flip", flip);
}

Json AffineSpec::to_json() const {
  return {{"rotate_deg", rotate_deg},
          {"scale", scale},
          {"shear_deg", shear_deg},
          {"translate", translate},
          {"flip", flip}};
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
