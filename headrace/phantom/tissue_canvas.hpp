#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "headrace/phantom/slide_anatomy.hpp"

namespace headrace::phantom {

/// One region of a slide while it is drawn: for each pixel the gland on top, and how much of each
/// dye there is. Everything is computed from global positions, so neighbouring regions fit without
/// a seam.
class TissueCanvas {
 public:
  /// Lays out tissue edge and glands for rows [y0, y0 + height), columns [x0, x0 + width).
  void begin(const SlideAnatomy& anatomy, std::int64_t y0, std::int64_t x0, std::int64_t height,
             std::int64_t width);
  /// Class of every pixel.
  void labels(std::uint8_t* dst, std::int64_t stride);
  /// Dyes of every pixel: stroma, gland walls, lumens, nuclei.
  void stain();

  const float* haematoxylin(std::int64_t row) const { return haematoxylin_.data() + row * width_; }
  const float* eosin(std::int64_t row) const { return eosin_.data() + row * width_; }

 private:
  // How far outside a region things still reach into it, micrometres: a nucleus; a hole that pushes
  // such a nucleus away; a gland that such a hole or nucleus lies in.
  static constexpr double kNucleusMargin = 16, kHoleMargin = 34, kGlandMargin = 50;
  static constexpr double kFreeCellStep = 14.5, kFreeCellRadius = 7.5;

  struct Hole {
    double y, x;
    float radius;
  };
  struct Blob {
    double y, x;
    float a, b, cosine, sine;  // half axes in micrometres
    float haematoxylin, eosin;
    float edge;  // softness, micrometres
    bool chromatin, nucleolus;
  };

  void lay_fields();
  void lay_glands();
  void stain_row(std::int64_t row);
  void stain_gland(std::int64_t index, double y, double x);
  void stain_stroma(std::int64_t index, double y, double x);
  void find_holes();
  void draw_holes();
  void draw_free_cells();
  void draw_stroma_nuclei();
  void draw_epithelial_nuclei();
  bool epithelial_nucleus(const Site& site, double y, double x, const math::Philox4& words,
                          Blob& blob) const;
  bool in_hole(double y, double x, float margin) const;
  void draw(const Blob& blob);
  float stripe_phase(double y, double x, float bend_x, float bend_y) const;

  /// Calls body(y, x, words) for jittered lattice points whose centres lie within `margin` of the
  /// region.
  template <typename Body>
  void strew(Purpose purpose, double step, double margin, const Body& body) const;
  template <typename Body>
  void each_free_cell(const Body& body) const;
  /// Calls body(index, y, x) for the pixels of the region within a box around (y, x).
  template <typename Body>
  void each_pixel(double y, double x, double reach, const Body& body);

  const SlideAnatomy* anatomy_ = nullptr;
  std::int64_t y0_ = 0, x0_ = 0, height_ = 0, width_ = 0;
  double mpp_ = 0.5, top_ = 0, left_ = 0, bottom_ = 0, right_ = 0;
  std::vector<Gland> glands_;
  std::vector<Hole> holes_;
  std::vector<float> bend_x_, bend_y_, tissue_, inside_, haematoxylin_, eosin_;
  std::vector<std::int32_t> gland_;
};

template <typename Body>
void TissueCanvas::each_pixel(double y, double x, double reach, const Body& body) {
  const auto first = [&](double at, std::int64_t low) {
    return std::max(low, static_cast<std::int64_t>(std::floor(at / mpp_ - 0.5)));
  };
  const auto last = [&](double at, std::int64_t high) {
    return std::min(high, static_cast<std::int64_t>(std::ceil(at / mpp_ + 0.5)));
  };
  const std::int64_t px0 = first(x - reach, x0_), px1 = last(x + reach, x0_ + width_);
  const std::int64_t py0 = first(y - reach, y0_), py1 = last(y + reach, y0_ + height_);
  for (std::int64_t py = py0; py < py1; ++py) {
    const double um_y = (static_cast<double>(py) + 0.5) * mpp_;
    for (std::int64_t px = px0; px < px1; ++px) {
      body((py - y0_) * width_ + px - x0_, um_y, (static_cast<double>(px) + 0.5) * mpp_);
    }
  }
}

template <typename Body>
void TissueCanvas::strew(Purpose purpose, double step, double margin, const Body& body) const {
  const auto first = [&](double at) {
    return static_cast<std::int64_t>(std::floor((at - margin) / step)) - 1;
  };
  const auto last = [&](double at) {
    return static_cast<std::int64_t>(std::floor((at + margin) / step)) + 1;
  };
  for (std::int64_t i = first(top_); i <= last(bottom_); ++i) {
    for (std::int64_t j = first(left_); j <= last(right_); ++j) {
      const auto words = anatomy_->draws().at(purpose, i, j);
      const double jitter_y = static_cast<double>(between(words.v[0], 0.12f, 0.88f));
      const double jitter_x =
          static_cast<double>(between(words.v[1], 0.12f, 0.88f)) + ((i & 1) ? 0.5 : 0.0);
      const double y = (static_cast<double>(i) + jitter_y) * step,
                   x = (static_cast<double>(j) + jitter_x) * step;
      if (y > top_ - margin && y < bottom_ + margin && x > left_ - margin && x < right_ + margin)
        body(y, x, words);
    }
  }
}

/// Single tumour cells of pattern 5: in its regions, between the sheets, in loose clusters.
template <typename Body>
void TissueCanvas::each_free_cell(const Body& body) const {
  if (anatomy_->spec().share[5] <= 0) return;
  strew(Purpose::free_cell, kFreeCellStep, kNucleusMargin,
        [&](double y, double x, const math::Philox4& words) {
          if (anatomy_->noise()(x / 70 + 61.9, y / 70 + 17.2) < -0.35f ||
              anatomy_->tissue_depth(y, x) < 9)
            return;
          if (anatomy_->region(y, x) != 5 || anatomy_->site(glands_, y, x).gland != nullptr) return;
          body(y, x, words);
        });
}

}  // namespace headrace::phantom
