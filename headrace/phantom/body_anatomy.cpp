#include "headrace/phantom/body_anatomy.hpp"

#include <algorithm>
#include <cmath>

#include "headrace/core/error.hpp"

namespace headrace::phantom {
namespace {

constexpr float kBeadMm = 1.5f;
constexpr float kColonJitterMm = 7, kBowelJitterMm = 9;

// Cecum to anus, millimetres in the standard body.
constexpr std::array<Knot, 19> kColon{{{{-86, -14, 118}, 17},
                                       {{-93, -8, 150}, 23},
                                       {{-97, 0, 190}, 22},
                                       {{-97, 6, 228}, 21},
                                       {{-84, -6, 256}, 20},
                                       {{-56, -44, 250}, 20},
                                       {{-14, -58, 232}, 20},
                                       {{30, -56, 240}, 19},
                                       {{70, -34, 270}, 18},
                                       {{97, -2, 290}, 17},
                                       {{104, 20, 262}, 15},
                                       {{104, 24, 215}, 15},
                                       {{100, 20, 165}, 15},
                                       {{80, -6, 128}, 15},
                                       {{40, -18, 108}, 15},
                                       {{6, 2, 112}, 15},
                                       {{-6, 30, 96}, 16},
                                       {{0, 42, 66}, 20},
                                       {{0, 44, 22}, 17}}};
constexpr std::array<Knot, 5> kAorta{{{{10, 22, 445}, 12},
                                      {{11, 20, 340}, 11},
                                      {{9, 16, 240}, 10},
                                      {{8, 14, 180}, 9},
                                      {{6, 14, 150}, 9}}};
constexpr std::array<Knot, 4> kCava{
    {{{-16, 14, 440}, 12}, {{-15, 22, 320}, 12}, {{-14, 20, 220}, 11}, {{-12, 20, 148}, 11}}};

Knot moved(const Knot& knot, const math::Philox4& words, float reach_mm) {
  Knot out = knot;
  for (std::size_t axis = 0; axis < 3; ++axis)
    out.at[axis] += between(words.v[axis], -reach_mm, reach_mm);
  out.radius *= between(words.v[3], 0.85f, 1.15f);
  return out;
}

Point3 unit(const Point3& a) { return a * (1 / (std::sqrt(dot(a, a)) + 1e-12f)); }
Point3 cross(const Point3& a, const Point3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

}  // namespace

BodyAnatomy::BodyAnatomy(const BodySpec& spec) : draws_(spec.seed, spec.patient), noise_(draws_) {
  const auto words = draws_.at(Purpose::body, 0, 0);
  const float girth = between(words.v[0], 0.90f, 1.08f);
  scale_ = {girth * between(words.v[1], 0.97f, 1.03f), girth * between(words.v[2], 0.94f, 1.06f),
            1};
  lay_colon();
  lay_small_bowel();
  lay_vessels();
  plant_lesions(spec.lesion_mm3);
}

Point3 BodyAnatomy::to_real(const Point3& standard) const {
  Point3 real{standard[0] * scale_[0], standard[1] * scale_[1], standard[2]};
  for (int i = 0; i < 40; ++i) {
    const Point3 off = to_standard(real) - standard;  // shrinks: the bend's slope is below 1/3
    for (std::size_t axis = 0; axis < 3; ++axis) real[axis] -= off[axis] * scale_[axis];
  }
  return real;
}

void BodyAnatomy::lay_colon() {
  std::vector<Knot> knots;
  for (std::size_t i = 0; i < kColon.size(); ++i)
    knots.push_back(moved(kColon[i], draws_.at(Purpose::colon, static_cast<std::int64_t>(i), 0),
                          kColonJitterMm));
  colon_ = beads_of(knots, kBeadMm, 26, 0.22f);
}

void BodyAnatomy::lay_small_bowel() {
  constexpr int kTurns = 26;  // back and forth between the flanks, from the pelvis up
  std::vector<Knot> knots;
  for (int i = 0; i < kTurns; ++i) {
    const auto words = draws_.at(Purpose::small_bowel, i, 0);
    const float side = (i & 1) ? 52.0f : -52.0f, turn = (i & 2) ? -34.0f : -4.0f;
    knots.push_back(
        moved({{side, turn, 120 + 4.2f * static_cast<float>(i)}, 11}, words, kBowelJitterMm));
  }
  small_bowel_ = beads_of(knots, kBeadMm, 9, 0.08f);
}

void BodyAnatomy::lay_vessels() {
  const auto add = [](std::vector<Bead>& to, std::span<const Knot> knots) {
    const auto beads = beads_of(knots, kBeadMm, 0, 0);
    to.insert(to.end(), beads.begin(), beads.end());
  };
  add(arteries_, kAorta);
  add(veins_, kCava);
  for (const float side : {-1.0f, 1.0f}) {
    add(arteries_, std::array<Knot, 3>{
                       {{{6, 14, 150}, 7}, {{side * 34, 18, 118}, 6}, {{side * 62, -24, 30}, 5}}});
    add(veins_, std::array<Knot, 3>{
                    {{{-10, 20, 148}, 8}, {{side * 36, 28, 112}, 7}, {{side * 58, -16, 30}, 6}}});
    add(arteries_,
        std::array<Knot, 3>{
            {{{9, 16, 252}, 4}, {{side * 30, 28, 250}, 3.5f}, {{side * 48, 38, 250}, 3}}});
  }
  // The superior mesenteric vessels, and the portal vein into the liver.
  add(arteries_, std::array<Knot, 3>{{{{9, 14, 262}, 4}, {{8, -16, 240}, 4}, {{-6, -26, 165}, 3}}});
  add(veins_,
      std::array<Knot, 4>{
          {{{-4, -28, 165}, 5}, {{-6, -18, 236}, 6}, {{-24, -4, 292}, 7}, {{-56, -6, 325}, 5}}});
}

BodyLesion BodyAnatomy::lesion_at(std::size_t bead, std::uint32_t number, float volume_mm3) const {
  const Bead& here = colon_[bead];
  const Bead &before = colon_[bead < 4 ? 0 : bead - 4],
             &behind = colon_[std::min(bead + 4, colon_.size() - 1)];
  const auto words = draws_.at(Purpose::lesion, number, 1),
             shape = draws_.at(Purpose::lesion, number, 2);
  const Point3 along = unit(behind.at - before.at);
  Point3 radial{};
  for (std::size_t axis = 0; axis < 3; ++axis) radial[axis] = between(words.v[axis], -1, 1);
  radial = unit(radial - along * dot(radial, along));
  BodyLesion lesion;
  lesion.axis = {along, cross(along, radial), radial};
  lesion.half_axis = {between(shape.v[0], 1.0f, 1.35f), between(shape.v[1], 0.9f, 1.15f),
                      between(shape.v[2], 0.65f, 0.9f)};
  lesion.bend = between(shape.v[3], 0.14f, 0.26f);
  lesion.noise_at = {5.5f * static_cast<float>(number) + 40, 11.3f, between(words.v[3], 0, 30)};
  scale_to_volume(noise_, lesion, volume_mm3);
  // In the wall, with the larger part inside the lumen.
  const float off = std::max(0.0f, here.radius - 0.6f * lesion.half_axis[2]);
  lesion.centre = to_real(here.at + radial * off);
  lesion.way = here.mm / colon_.back().mm;
  return lesion;
}

void BodyAnatomy::plant_lesions(const std::vector<float>& volumes_mm3) {
  constexpr int kTries = 256;
  constexpr float kFirst = 0.06f, kLast = 0.95f, kApartMm = 12;
  for (std::size_t i = 0; i < volumes_mm3.size(); ++i) {
    bool placed = false;
    for (int attempt = 0; attempt < kTries && !placed; ++attempt) {
      const auto words = draws_.at(Purpose::lesion, static_cast<std::int64_t>(i), 16 + attempt);
      const float part = between(words.v[0], kFirst, kLast);
      const auto bead = static_cast<std::size_t>(part * static_cast<float>(colon_.size()));
      const BodyLesion lesion = lesion_at(bead, static_cast<std::uint32_t>(i), volumes_mm3[i]);
      const float low = lesion.centre[2] - lesion.reach(), high = lesion.centre[2] + lesion.reach();
      placed = low > 2 && high < kBodyLengthMm - 2;
      for (const BodyLesion& other : lesions_) {
        const Point3 off = other.centre - lesion.centre;
        const float apart = lesion.reach() + other.reach() + kApartMm;
        placed = placed && dot(off, off) > apart * apart;
      }
      if (placed) lesions_.push_back(lesion);
    }
    if (!placed) {
      fail(ErrorCode::usage, "phantom volumes: no room in the colon for {} lesions of {:.0f} mm3",
           volumes_mm3.size(), static_cast<double>(volumes_mm3[i]));
    }
  }
}

}  // namespace headrace::phantom
