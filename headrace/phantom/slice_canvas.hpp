#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "headrace/phantom/body_anatomy.hpp"
#include "headrace/phantom/tissue_hu.hpp"

namespace headrace::phantom {

inline constexpr std::uint8_t kBackground = 0, kColonLabel = 1, kLesionLabel = 2;

/// One plane through a body while it is drawn. Everything is a function of the position in the
/// body, so planes are drawn alone and from any thread. Memory: 36 bytes a pixel.
class SliceCanvas {
 public:
  /// Lays out the plane at height `z_mm`: size × size pixels of kFieldOfViewMm / size.
  void begin(const BodyAnatomy& anatomy, std::int64_t size, float z_mm);
  /// Class of every pixel at its centre.
  void labels(std::uint8_t* dst) const;
  /// Hounsfield units before noise. Edges are one pixel wide.
  void draw(const std::array<float, kTissues>& hu);
  const float* hu() const noexcept { return hu_.data(); }
  /// Depth in the body, 0 outside to 1 in its middle: noise grows with it.
  float depth(std::int64_t i) const noexcept {
    return std::clamp(1 - body_[static_cast<std::size_t>(i)], 0.0f, 1.0f);
  }

 private:
  struct Field {
    std::vector<float> inside;        // mm inside the tube's outer surface
    std::vector<std::uint16_t> bead;  // the one that is nearest
  };
  struct Range {
    std::int64_t low, high;
  };

  void lay_tube(const std::vector<Bead>& beads, Field& field) const;
  void draw_table();
  void draw_trunk();
  void draw_organs();
  void draw_vessels();
  void draw_bones();
  void draw_gut();
  void draw_colon();
  void draw_lesions();
  void add_grain();

  Range columns(float low, float high) const;  // of an interval in standard millimetres
  Range rows(float low, float high) const;
  float cover(float inside_mm) const { return std::clamp(inside_mm / pixel_ + 0.5f, 0.0f, 1.0f); }
  void paint(std::size_t i, float cover, Tissue tissue, float grain = 0) {
    hu_[i] += cover * (table_[static_cast<std::size_t>(tissue)] - hu_[i]);
    grain_[i] += cover * (grain - grain_[i]);
  }
  /// Thin branching vessels: where two smooth fields are both near 0.
  float branches(std::size_t i, float scale_mm, float width) const;

  /// Calls body(i, mm inside) for the pixels in or beside an ellipsoid of standard coordinates.
  template <typename Body>
  void each_in_ellipsoid(const Point3& centre, const Point3& radii, const Body& body) const;
  /// The same for an upright column.
  template <typename Body>
  void each_in_column(float x, float y, float rx, float ry, const Body& body) const;

  const BodyAnatomy* anatomy_ = nullptr;
  std::int64_t size_ = 0;
  float z_ = 0, pixel_ = 1;
  std::array<float, kTissues> table_{};
  std::vector<float> sx_, sy_, sz_;  // standard coordinates of every pixel
  std::vector<float> body_;          // 0 middle, 1 skin
  std::vector<float> hu_, grain_;
  Field colon_, bowel_, artery_, vein_;
};

template <typename Body>
void SliceCanvas::each_in_ellipsoid(const Point3& centre, const Point3& radii,
                                    const Body& body) const {
  const float reach = BodyAnatomy::kBendMm + pixel_;
  if (z_ < centre[2] - radii[2] - reach || z_ > centre[2] + radii[2] + reach) return;
  const Range across = columns(centre[0] - radii[0] - pixel_, centre[0] + radii[0] + pixel_);
  const Range down = rows(centre[1] - radii[1] - pixel_, centre[1] + radii[1] + pixel_);
  for (std::int64_t y = down.low; y < down.high; ++y) {
    for (std::int64_t x = across.low; x < across.high; ++x) {
      const auto i = static_cast<std::size_t>(y * size_ + x);
      const float u = (sx_[i] - centre[0]) / radii[0], v = (sy_[i] - centre[1]) / radii[1],
                  w = (sz_[i] - centre[2]) / radii[2];
      const float square = u * u + v * v + w * w;
      if (square > 1.5f) continue;
      const float k = std::sqrt(square), gx = u / radii[0], gy = v / radii[1], gz = w / radii[2];
      const float slope = std::sqrt(gx * gx + gy * gy + gz * gz);
      body(i, slope > 1e-6f ? (1 - k) * k / slope : std::min({radii[0], radii[1], radii[2]}));
    }
  }
}

template <typename Body>
void SliceCanvas::each_in_column(float x, float y, float rx, float ry, const Body& body) const {
  const Range across = columns(x - rx - pixel_, x + rx + pixel_);
  const Range down = rows(y - ry - pixel_, y + ry + pixel_);
  for (std::int64_t py = down.low; py < down.high; ++py) {
    for (std::int64_t px = across.low; px < across.high; ++px) {
      const auto i = static_cast<std::size_t>(py * size_ + px);
      const float u = (sx_[i] - x) / rx, v = (sy_[i] - y) / ry, square = u * u + v * v;
      if (square > 2.5f) continue;
      const float k = std::sqrt(square), gx = u / rx, gy = v / ry;
      const float slope = std::sqrt(gx * gx + gy * gy);
      body(i, slope > 1e-6f ? (1 - k) * k / slope : std::min(rx, ry));
    }
  }
}

}  // namespace headrace::phantom
