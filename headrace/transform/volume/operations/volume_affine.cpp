#include "headrace/transform/volume/operations/volume_affine.hpp"

#include "headrace/math/trigonometry.hpp"
#include "headrace/transform/spec_reader.hpp"
#include "headrace/transform/volume/volume_draw.hpp"

namespace headrace::transform {
namespace {

/// A turn by `degrees` in the plane of two axes; see VolumeAffineSpec::draw.
Affine3 turn(double degrees, std::size_t a, std::size_t b) {
  double sine, cosine;
  math::sine_cosine(degrees / 360.0, sine, cosine);
  Affine3 t;
  t.m[4 * a + a] = t.m[4 * b + b] = cosine;
  t.m[4 * a + b] = sine;
  t.m[4 * b + a] = -sine;
  return t;
}

double tangent(double degrees) {
  double sine, cosine;
  math::sine_cosine(degrees / 360.0, sine, cosine);
  return sine / cosine;
}

/// The values that one sample draws, by axis (z, y, x).
struct Drawn {
  std::array<double, 3> angle{}, shear{}, shift{};
  std::array<bool, 3> flip{};
  double scale = 1;
};

Drawn drawn_of(const VolumeAffineSpec& s, EntryStream numbers, const VolumePatchSpec& patch) {
  Drawn d;
  const bool turned = numbers.chance(s.rotate_probability);
  for (double& a : d.angle) a = numbers.between(s.rotate_deg[0], s.rotate_deg[1]);
  const bool scaled = numbers.chance(s.scale_probability);
  d.scale = numbers.between(s.scale[0], s.scale[1]);
  for (double& a : d.shear) a = numbers.between(s.shear_deg[0], s.shear_deg[1]);
  for (std::size_t i = 0; i < 3; ++i) {
    d.shift[i] = numbers.between(-s.translate, s.translate) * patch.size_zyx[i];
  }
  for (bool& f : d.flip) f = numbers.chance(0.5) && s.flip;
  if (!turned) d.angle = {0, 0, 0};
  if (s.in_plane) d.angle[1] = d.angle[2] = 0;
  if (!scaled) d.scale = 1;
  return d;
}

/// Output → source: flip and size, then slant, then the turns about x, y and z, in millimetres;
/// then the shift.
Affine3 inverse_of(const Drawn& d, const VolumePatchSpec& patch) {
  Affine3 size, slant, inverse;
  for (std::size_t i = 0; i < 3; ++i) size.m[5 * i] = (d.flip[i] ? -1.0 : 1.0) / d.scale;
  slant.m[9] = tangent(d.shear[0]);  // x with y
  slant.m[8] = tangent(d.shear[1]);  // x with z
  slant.m[4] = tangent(d.shear[2]);  // y with z
  const Affine3 mm =
      turn(d.angle[0], 1, 2) * turn(d.angle[1], 2, 0) * turn(d.angle[2], 0, 1) * slant * size;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      inverse.m[4 * i + j] = mm.m[4 * i + j] * (patch.spacing_mm_zyx[j] / patch.spacing_mm_zyx[i]);
    }
    inverse.m[4 * i + 3] = d.shift[i];
  }
  return inverse;
}

}  // namespace

Fields VolumeAffineSpec::fields() {
  return {{"rotate_deg", range_form(rotate_deg, -360, 360), "degrees to turn by, about each axis"},
          {"in_plane", form::flag(in_plane), "turns about z alone"},
          {"scale", range_form(scale, 0.05, 20), "enlargement"},
          {"shear_deg", range_form(shear_deg, -60, 60), "slant, in degrees"},
          {"translate", form::number(translate, 0, 10), "largest shift, as a part of the edge"},
          {"flip", form::flag(flip), "each axis is mirrored in half of the samples"},
          {"rotate_probability", form::number(rotate_probability, 0, 1), "of a turn"},
          {"scale_probability", form::number(scale_probability, 0, 1), "of an enlargement"}};
}

void VolumeAffineSpec::draw(VolumeDraw& draw) const {
  if (!draw.random) return;
  const Drawn d = drawn_of(*this, draw.geometry_stream(), draw.patch);
  draw.params.scale = d.scale;
  draw.params.inverse = inverse_of(d, draw.patch);
  draw.record({{"rotate_z_deg", d.angle[0]},
               {"rotate_y_deg", d.angle[1]},
               {"rotate_x_deg", d.angle[2]},
               {"scale", d.scale},
               {"shear_xy_deg", d.shear[0]},
               {"shear_xz_deg", d.shear[1]},
               {"shear_yz_deg", d.shear[2]},
               {"translate_z_voxels", d.shift[0]},
               {"translate_y_voxels", d.shift[1]},
               {"translate_x_voxels", d.shift[2]},
               {"flip_z", d.flip[0]},
               {"flip_y", d.flip[1]},
               {"flip_x", d.flip[2]}});
}

}  // namespace headrace::transform
