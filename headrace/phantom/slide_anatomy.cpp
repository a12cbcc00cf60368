#include "headrace/phantom/slide_anatomy.hpp"

#include <algorithm>
#include <cmath>

namespace headrace::phantom {
namespace {

constexpr double kRegionStep = 330;  // micrometres between region centres

/// How glands of one class are strewn and shaped, micrometres.
struct GlandKind {
  int label;
  double step, jitter;  // lattice, and how far a centre may leave its point (part of the step)
  float radius_low, radius_high;
  float longest;  // half axes differ by up to this factor
  float bend;     // part of the radius
  float wall_low, wall_high;
};

constexpr std::array<GlandKind, 5> kKinds{{
    {1, 150, 0.15, 50, 70, 1.55f, 0.34f, 17, 22},   // large, two cell layers, folded
    {2, 148, 0.14, 50, 68, 1.40f, 0.26f, 26, 36},   // large, thick crowded wall
    {3, 60, 0.20, 17, 26, 1.30f, 0.16f, 9.5f, 12},  // small, round, one layer, apart
    {4, 112, 0.24, 46, 62, 1.60f, 0.26f, 400,
     401},  // fused and cribriform masses, holes come apart
    {5, 128, 0.26, 40, 60, 1.70f, 0.36f, 400, 401},  // solid sheets; single cells come apart
}};

double lattice_floor(double at, double step) { return std::floor(at / step); }

}  // namespace

SlideAnatomy::SlideAnatomy(const SlideSpec& spec)
    : spec_(spec),
      draws_(spec.seed, spec.slide),
      noise_(draws_),
      half_height_(0.5 * static_cast<double>(spec.height) * spec.mpp),
      half_width_(0.5 * static_cast<double>(spec.width) * spec.mpp) {}

float SlideAnatomy::tissue_depth(double y, double x) const {
  const double v = y / half_height_ - 1, u = x / half_width_ - 1;
  const double radius = std::sqrt(std::sqrt(u * u * u * u + v * v * v * v));
  const double coarse = noise_(2.1 * u + 31.7, 2.1 * v + 77.3),
               fine = noise_(x / 90 + 5.5, y / 90 + 9.1);
  const double edge = 0.86 + 0.11 * coarse;
  return static_cast<float>((edge - radius) * std::min(half_height_, half_width_) + 14 * fine);
}

std::array<float, 2> SlideAnatomy::bend(double y, double x) const {
  return {
      0.72f * noise_(x / 46 + 11.3, y / 46 + 3.9) + 0.28f * noise_(x / 17 + 81.2, y / 17 + 55.1),
      0.72f * noise_(x / 46 + 140.6, y / 46 + 200.2) +
          0.28f * noise_(x / 17 + 190.4, y / 17 + 15.8)};
}

int SlideAnatomy::region(double y, double x) const {
  const auto ci = static_cast<std::int64_t>(lattice_floor(y, kRegionStep));
  const auto cj = static_cast<std::int64_t>(lattice_floor(x, kRegionStep));
  double best = 1e30;
  std::int64_t best_i = 0, best_j = 0;
  for (std::int64_t i = ci - 1; i <= ci + 1; ++i) {
    for (std::int64_t j = cj - 1; j <= cj + 1; ++j) {
      const auto words = draws_.at(Purpose::region, i, j);
      const double cy =
          (static_cast<double>(i) + 0.15 + 0.7 * static_cast<double>(math::uniform01(words.v[0]))) *
          kRegionStep;
      const double cx =
          (static_cast<double>(j) + 0.15 + 0.7 * static_cast<double>(math::uniform01(words.v[1]))) *
          kRegionStep;
      const double d = (cy - y) * (cy - y) + (cx - x) * (cx - x);
      if (d < best) {
        best = d;
        best_i = i;
        best_j = j;
      }
    }
  }
  // An additive recurrence (R2) spreads the classes evenly over neighbours, so that small slides
  // have their shares too.
  const double start =
      static_cast<double>(math::uniform01(draws_.at(Purpose::region_class, 0, 0).v[0]));
  double u = start + 0.7548776662466927 * static_cast<double>(best_i) +
             0.5698402909980532 * static_cast<double>(best_j);
  u -= std::floor(u);
  double sum = 0;
  for (int label = 1; label < kClasses; ++label) {
    sum += static_cast<double>(spec_.share[static_cast<std::size_t>(label)]);
    if (u < sum) return label;
  }
  return 1;
}

bool SlideAnatomy::make_gland(int kind, std::int64_t i, std::int64_t j, Gland& gland) const {
  const GlandKind& k = kKinds[static_cast<std::size_t>(kind)];
  const auto purpose =
      static_cast<std::uint32_t>(Purpose::gland) + static_cast<std::uint32_t>(kind);
  const auto place = draws_.at(purpose, i, 2 * j), shape = draws_.at(purpose, i, 2 * j + 1);
  const auto off = [&](std::uint32_t word) {
    return static_cast<double>(between(word, -1, 1)) * k.jitter;
  };
  // Every other row is shifted by half a step, so that the lattice does not show.
  gland.y = (static_cast<double>(i) + 0.5 + off(place.v[0])) * k.step;
  gland.x = (static_cast<double>(j) + ((i & 1) ? 1.0 : 0.5) + off(place.v[1])) * k.step;
  gland.label = k.label;
  gland.radius = between(place.v[2], k.radius_low, k.radius_high);
  if (tissue_depth(gland.y, gland.x) < 0.5f * gland.radius) return false;
  if (region(gland.y, gland.x) != k.label) return false;
  const float stretch = std::sqrt(between(place.v[3], 1, k.longest));
  float cx = between(shape.v[0], -1, 1), cy = between(shape.v[1], -1, 1);
  const float length = std::sqrt(cx * cx + cy * cy) + 1e-6f;
  gland.cosine = cx / length;
  gland.sine = cy / length;
  gland.inverse_a = 1 / (gland.radius * stretch);
  gland.inverse_b = stretch / gland.radius;
  gland.bend = k.bend * gland.radius;
  gland.wall = between(shape.v[2], k.wall_low, k.wall_high);
  gland.tint = shape.v[3];
  return true;
}

std::vector<Gland> SlideAnatomy::glands(double y0, double x0, double y1, double x1) const {
  std::vector<Gland> found;
  for (int kind = 0; kind < static_cast<int>(kKinds.size()); ++kind) {
    const GlandKind& k = kKinds[static_cast<std::size_t>(kind)];
    if (spec_.share[static_cast<std::size_t>(k.label)] <= 0 && k.label != 1) continue;
    const double reach =
        static_cast<double>(k.radius_high * (std::sqrt(k.longest) + 1.5f * k.bend)) +
        k.step * (0.5 + k.jitter);
    const auto i0 = static_cast<std::int64_t>(lattice_floor(y0 - reach, k.step));
    const auto i1 = static_cast<std::int64_t>(lattice_floor(y1 + reach, k.step));
    const auto j0 = static_cast<std::int64_t>(lattice_floor(x0 - reach, k.step));
    const auto j1 = static_cast<std::int64_t>(lattice_floor(x1 + reach, k.step));
    for (std::int64_t i = i0; i <= i1; ++i) {
      for (std::int64_t j = j0; j <= j1; ++j) {
        Gland gland;
        if (!make_gland(kind, i, j, gland)) continue;
        const double r = static_cast<double>(1 / gland.inverse_a + 1.5f * gland.bend);
        if (gland.y + r > y0 && gland.y - r < y1 && gland.x + r > x0 && gland.x - r < x1)
          found.push_back(gland);
      }
    }
  }
  return found;
}

float SlideAnatomy::inside(const Gland& gland, double y, double x,
                           const std::array<float, 2>& bend) {
  const float dx = static_cast<float>(x - gland.x) + gland.bend * bend[0];
  const float dy = static_cast<float>(y - gland.y) + gland.bend * bend[1];
  const float u = (dx * gland.cosine + dy * gland.sine) * gland.inverse_a;
  const float v = (dy * gland.cosine - dx * gland.sine) * gland.inverse_b;
  return u * u + v * v;
}

Site SlideAnatomy::site(const std::vector<Gland>& glands, double y, double x) const {
  const auto bent = bend(y, x);
  for (auto gland = glands.rbegin(); gland != glands.rend(); ++gland) {
    const float q = inside(*gland, y, x, bent);
    if (q < 1) return {&*gland, (1 - std::sqrt(q)) * gland->radius};
  }
  return {};
}

}  // namespace headrace::phantom
