// All that a plane shows except the colon and its lesions: trunk, organs, vessels, bones, gut.
#include "headrace/phantom/slice_canvas.hpp"

namespace headrace::phantom {
namespace {

float fraction(float x) { return x - std::floor(x); }
float square(float x) { return x * x; }
/// Millimetres inside of an ellipse round the origin, along the radius.
float inside_ellipse(float x, float y, float rx, float ry) {
  const float k = std::sqrt(square(x / rx) + square(y / ry)), r = std::sqrt(x * x + y * y);
  return k > 1e-3f ? r * (1 / k - 1) : std::min(rx, ry);
}

}  // namespace

void SliceCanvas::draw_table() {
  constexpr float kThick = 24, kShell = 2.5f, kHalfWidth = 215, kGapMm = 10;
  const float half = 0.5f * static_cast<float>(size_) - 0.5f;
  const float top = 112 * anatomy_->scale()[1] + kGapMm;
  for (std::int64_t y = 0; y < size_; ++y) {
    const float at_y = (static_cast<float>(y) - half) * pixel_;
    if (at_y < top - 40 || at_y > top + kThick + pixel_) continue;
    for (std::int64_t x = 0; x < size_; ++x) {
      const float at_x = (static_cast<float>(x) - half) * pixel_;
      if (std::abs(at_x) > kHalfWidth) continue;
      const float surface = top - 0.0007f * at_x * at_x;  // hollow
      const float inside = std::min(at_y - surface, surface + kThick - at_y);
      const auto i = static_cast<std::size_t>(y * size_ + x);
      paint(i, cover(inside), Tissue::table_shell);
      paint(i, cover(inside - kShell), Tissue::table_foam);
    }
  }
}

void SliceCanvas::draw_trunk() {
  constexpr float kSkin = 2;
  for (std::size_t i = 0; i < hu_.size(); ++i) {
    if (body_[i] > 1.1f) continue;
    const float x = sx_[i], y = sy_[i];
    const float skin = inside_ellipse(x, y, 165, 112);
    paint(i, cover(skin), Tissue::skin);
    paint(i, cover(skin - kSkin), Tissue::fat, 14);
    paint(i, cover(inside_ellipse(x, y + 2, 142, 92)), Tissue::muscle, 12);
    const float cavity = cover(inside_ellipse(x, y + 8, 130, 77));
    paint(i, cavity, Tissue::fat, 16);
    if (cavity > 0 && sz_[i] < 340) paint(i, 0.8f * cavity * branches(i, 26, 0.11f), Tissue::vein);
  }
  for (const float side : {-1.0f, 1.0f}) {
    each_in_column(side * 33, 74, 29, 18,
                   [&](std::size_t i, float in) { paint(i, cover(in), Tissue::muscle, 14); });
    each_in_ellipsoid({side * 36, 42, 170}, {15, 17, 95},
                      [&](std::size_t i, float in) { paint(i, cover(in), Tissue::muscle, 10); });
    each_in_ellipsoid({side * 78, 58, 40}, {52, 30, 110},
                      [&](std::size_t i, float in) { paint(i, cover(in), Tissue::muscle, 16); });
  }
}

void SliceCanvas::draw_organs() {
  for (const float side : {-1.0f, 1.0f}) {
    each_in_ellipsoid({side * 68, -4, 442}, {58, 76, 92}, [&](std::size_t i, float in) {
      paint(i, cover(in), Tissue::lung, 30);
      paint(i, cover(in - 3) * branches(i, 16, 0.16f), Tissue::vein);
    });
  }
  each_in_ellipsoid({14, -30, 440}, {52, 42, 46},
                    [&](std::size_t i, float in) { paint(i, cover(in), Tissue::heart, 6); });
  const auto liver = [&](std::size_t i, float in) {
    const float inner =
        std::min(in, inside_ellipse(sx_[i], sy_[i] + 8, 129, 76));  // stays in the cavity
    paint(i, cover(inner), Tissue::liver, 6);
    paint(i, cover(inner - 4) * branches(i, 34, 0.13f), Tissue::liver_vessel);
  };
  each_in_ellipsoid({-66, -6, 338}, {68, 72, 64}, liver);
  each_in_ellipsoid({-4, -42, 350}, {62, 34, 40}, liver);
  each_in_ellipsoid({96, 30, 330}, {28, 40, 46},
                    [&](std::size_t i, float in) { paint(i, cover(in), Tissue::spleen, 6); });
  for (const float side : {-1.0f, 1.0f}) {
    const Point3 at{side * 60, 40, side > 0 ? 262.0f : 250.0f};
    each_in_ellipsoid(at, {25, 23, 52}, [&](std::size_t i, float in) {
      paint(i, cover(in), Tissue::kidney_cortex, 5);
      paint(i, cover(in - 7), Tissue::kidney_medulla, 8);
      paint(i, cover(in - 15), Tissue::fat, 10);
    });
  }
  each_in_ellipsoid({48, -34, 334}, {42, 34, 50}, [&](std::size_t i, float in) {
    paint(i, cover(in), Tissue::gut_wall, 8);
    const float lumen = cover(in - 5);
    paint(i, lumen, Tissue::gas);
    paint(i, lumen * cover(sy_[i] + 42), Tissue::fluid, 8);
  });
  each_in_ellipsoid({0, -34, 44}, {36, 30, 30}, [&](std::size_t i, float in) {
    paint(i, cover(in), Tissue::muscle, 4);
    paint(i, cover(in - 3), Tissue::urine);
  });
}

void SliceCanvas::draw_vessels() {
  for (std::size_t i = 0; i < hu_.size(); ++i) {
    if (vein_.inside[i] > -pixel_) paint(i, cover(vein_.inside[i]), Tissue::vein, 4);
    if (artery_.inside[i] > -pixel_) paint(i, cover(artery_.inside[i]), Tissue::artery, 4);
  }
}

void SliceCanvas::draw_bones() {
  constexpr float kShell = 2.2f;
  const auto bone = [&](std::size_t i, float in) {
    paint(i, cover(in), Tissue::compact_bone, 60);
    paint(i, cover(in - kShell), Tissue::marrow, 70);
  };
  for (std::size_t i = 0; i < hu_.size(); ++i) {
    if (body_[i] > 1) continue;
    const float x = sx_[i], y = sy_[i], z = sz_[i];
    if (z > 255) {  // ribs fall towards the front
      const float ring = 5 - std::abs(inside_ellipse(x, y + 2, 138, 88));
      const float step = fraction((z - 0.35f * y + 0.1f * std::abs(x)) / 30) * 30;
      const float rib = std::min(ring, 6 - std::abs(step - 15));
      if (rib > -pixel_ && (y > -62 || z > 330)) bone(i, rib);
    } else if (z < 170) {  // wings of the pelvis
      const float ring = 6 - std::abs(inside_ellipse(x, y - 6, 116, 82));
      const float edge = std::min({y + 36, 70 - y, std::abs(x) - 44, 166 - 0.5f * std::abs(y) - z});
      const float wing = std::min(ring, edge);
      if (wing > -pixel_) bone(i, wing);
    }
  }
  each_in_ellipsoid({0, 76, 72}, {42, 13, 60}, bone);
  for (const float side : {-1.0f, 1.0f}) each_in_ellipsoid({side * 92, 4, 26}, {25, 25, 25}, bone);
  const auto above_sacrum = [&](std::size_t i) { return sz_[i] > 122; };
  each_in_column(0, 47, 23, 17, [&](std::size_t i, float in) {
    if (!above_sacrum(i)) return;
    const float step = fraction(sz_[i] / 34) * 34;  // a vertebra and its disc
    if (step < 7) {
      paint(i, cover(in), Tissue::disc, 8);
    } else {
      bone(i, std::min(in, std::min(step - 7, 34 - step) + 1));
    }
  });
  const auto process = [&](std::size_t i, float in) {
    if (above_sacrum(i) && in > -pixel_) bone(i, in);
  };
  each_in_column(0, 84, 5, 14, process);
  for (const float side : {-1.0f, 1.0f}) each_in_column(side * 19, 68, 17, 6, process);
  each_in_column(0, 72, 9, 8, [&](std::size_t i, float in) {
    if (above_sacrum(i)) paint(i, cover(in), Tissue::fluid, 6);
  });
}

void SliceCanvas::draw_gut() {
  constexpr float kWallMm = 2.5f;
  const NoiseVolume& noise = anatomy_->noise();
  for (std::size_t i = 0; i < hu_.size(); ++i) {
    if (bowel_.inside[i] < -pixel_) continue;
    const Bead& bead = anatomy_->small_bowel()[bowel_.bead[i]];
    paint(i, cover(bowel_.inside[i]), Tissue::gut_wall, 8);
    const float lumen = cover(bowel_.inside[i] - kWallMm);
    const float content = noise(bead.mm / 60, 12.1f, 3.3f);
    if (content > 0.35f) {
      paint(i, lumen, Tissue::gas);
    } else if (content > -0.45f) {
      paint(i, lumen, Tissue::fluid, 10);
    }  // else collapsed: wall alone
  }
}

}  // namespace headrace::phantom
