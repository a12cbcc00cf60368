#include "headrace/phantom/tissue_canvas.hpp"

#include <algorithm>
#include <cmath>

namespace headrace::phantom {
namespace {

constexpr double kFieldStepUm = 4;
constexpr float kOutside = 1e9f;

}  // namespace

void TissueCanvas::begin(const SlideAnatomy& anatomy, std::int64_t y0, std::int64_t x0,
                         std::int64_t height, std::int64_t width) {
  anatomy_ = &anatomy;
  y0_ = y0;
  x0_ = x0;
  height_ = height;
  width_ = width;
  mpp_ = anatomy.spec().mpp;
  top_ = static_cast<double>(y0) * mpp_;
  left_ = static_cast<double>(x0) * mpp_;
  bottom_ = static_cast<double>(y0 + height) * mpp_;
  right_ = static_cast<double>(x0 + width) * mpp_;
  const auto pixels = static_cast<std::size_t>(height * width);
  for (auto* field : {&bend_x_, &bend_y_, &tissue_, &inside_, &haematoxylin_, &eosin_})
    field->resize(pixels);
  gland_.resize(pixels);
  lay_fields();
  glands_ = anatomy.glands(top_ - kGlandMargin, left_ - kGlandMargin, bottom_ + kGlandMargin,
                           right_ + kGlandMargin);
  lay_glands();
}

/// Bend and tissue depth on a lattice of about 4 micrometres, which the whole slide shares, and
/// linear between.
void TissueCanvas::lay_fields() {
  const auto step = std::max<std::int64_t>(1, static_cast<std::int64_t>(kFieldStepUm / mpp_));
  const auto floor_div = [](std::int64_t a, std::int64_t b) {
    return a >= 0 ? a / b : -((b - 1 - a) / b);
  };
  const std::int64_t i0 = floor_div(y0_, step), i1 = floor_div(y0_ + height_ - 1, step) + 1;
  const std::int64_t j0 = floor_div(x0_, step), j1 = floor_div(x0_ + width_ - 1, step) + 1;
  const std::int64_t columns = j1 - j0 + 1;
  std::vector<std::array<float, 3>> nodes(static_cast<std::size_t>((i1 - i0 + 1) * columns));
  for (std::int64_t i = i0; i <= i1; ++i) {
    for (std::int64_t j = j0; j <= j1; ++j) {
      const double y = static_cast<double>(i * step) * mpp_,
                   x = static_cast<double>(j * step) * mpp_;
      const auto bend = anatomy_->bend(y, x);
      nodes[static_cast<std::size_t>((i - i0) * columns + j - j0)] = {bend[0], bend[1],
                                                                      anatomy_->tissue_depth(y, x)};
    }
  }
  const float part = 1.0f / static_cast<float>(step);
  for (std::int64_t row = 0; row < height_; ++row) {
    const std::int64_t i = floor_div(y0_ + row, step) - i0;
    const float ty = static_cast<float>(y0_ + row - (i + i0) * step) * part;
    for (std::int64_t j = 0; j + 1 < columns; ++j) {
      const auto& a = nodes[static_cast<std::size_t>(i * columns + j)];
      const auto& b = nodes[static_cast<std::size_t>(i * columns + j + 1)];
      const auto& c = nodes[static_cast<std::size_t>((i + 1) * columns + j)];
      const auto& d = nodes[static_cast<std::size_t>((i + 1) * columns + j + 1)];
      const std::int64_t first = std::max(x0_, (j + j0) * step),
                         end = std::min(x0_ + width_, (j + j0 + 1) * step);
      float* fields[3] = {bend_x_.data(), bend_y_.data(), tissue_.data()};
      for (std::size_t k = 0; k < 3; ++k) {
        const float from = a[k] + (c[k] - a[k]) * ty, to = b[k] + (d[k] - b[k]) * ty;
        float* out = fields[k] + row * width_ - x0_;
        for (std::int64_t x = first; x < end; ++x)
          out[x] = from + (to - from) * (static_cast<float>(x - (j + j0) * step) * part);
      }
    }
  }
}

void TissueCanvas::lay_glands() {
  std::fill(gland_.begin(), gland_.end(), -1);
  std::fill(inside_.begin(), inside_.end(), kOutside);
  for (std::size_t g = 0; g < glands_.size(); ++g) {
    const Gland& gland = glands_[g];
    const double reach = static_cast<double>(1 / gland.inverse_a + 1.5f * gland.bend);
    each_pixel(gland.y, gland.x, reach, [&](std::int64_t i, double y, double x) {
      const auto at = static_cast<std::size_t>(i);
      const float q = SlideAnatomy::inside(gland, y, x, {bend_x_[at], bend_y_[at]});
      if (q < 1) {
        gland_[at] = static_cast<std::int32_t>(g);
        inside_[at] = q;
      }
    });
  }
}

void TissueCanvas::labels(std::uint8_t* dst, std::int64_t stride) {
  for (std::int64_t row = 0; row < height_; ++row) {
    for (std::int64_t x = 0; x < width_; ++x) {
      const auto at = static_cast<std::size_t>(row * width_ + x);
      const bool gland = gland_[at] >= 0 && tissue_[at] > 0;
      dst[row * stride + x] =
          gland ? static_cast<std::uint8_t>(glands_[static_cast<std::size_t>(gland_[at])].label)
                : 0;
    }
  }
  each_free_cell([&](double y, double x, const math::Philox4&) {
    each_pixel(y, x, kFreeCellRadius, [&](std::int64_t i, double py, double px) {
      const double d = (py - y) * (py - y) + (px - x) * (px - x);
      const auto at = static_cast<std::size_t>(i);
      if (d < kFreeCellRadius * kFreeCellRadius && gland_[at] < 0 && tissue_[at] > 0) {
        dst[(i / width_) * stride + i % width_] = 5;
      }
    });
  });
}

void TissueCanvas::stain() {
  for (std::int64_t row = 0; row < height_; ++row) stain_row(row);
  find_holes();
  draw_holes();
  draw_free_cells();
  draw_stroma_nuclei();
  draw_epithelial_nuclei();
  // Half-covered at the very edge, nothing on the glass; nuclei do not hang over it.
  for (std::size_t at = 0; at < tissue_.size(); ++at) {
    const float cover = std::clamp(tissue_[at] * 0.6f, 0.0f, 1.0f);
    haematoxylin_[at] *= cover;
    eosin_[at] *= cover;
  }
}

void TissueCanvas::stain_row(std::int64_t row) {
  const double y = (static_cast<double>(y0_ + row) + 0.5) * mpp_;
  for (std::int64_t column = 0; column < width_; ++column) {
    const std::int64_t index = row * width_ + column;
    const auto at = static_cast<std::size_t>(index);
    if (tissue_[at] <= 0) {
      haematoxylin_[at] = eosin_[at] = 0;
      continue;
    }
    const double x = (static_cast<double>(x0_ + column) + 0.5) * mpp_;
    if (gland_[at] >= 0) {
      stain_gland(index, y, x);
    } else {
      stain_stroma(index, y, x);
    }
  }
}

void TissueCanvas::stain_gland(std::int64_t index, double y, double x) {
  const auto at = static_cast<std::size_t>(index);
  const Gland& gland = glands_[static_cast<std::size_t>(gland_[at])];
  const float depth = (1 - std::sqrt(inside_[at])) * gland.radius;
  const float grain = anatomy_->noise()(x / 2.3 + 7.7, y / 2.3 + 3.1);
  float wall = gland.wall;
  if (gland.label == 1 || gland.label == 2) {
    const double fold = gland.label == 1 ? 10 : 15;
    const float n = anatomy_->noise()(x / fold + 23.5, y / fold + 41.9);
    wall *= 1 + 0.9f * std::max(0.0f, n) + 0.12f * n;
  }
  float h, e;
  if (depth < 1.1f && gland.label != 5) {
    h = 0.08f;  // the membrane around a gland
    e = 0.40f;
  } else if (depth < wall) {
    constexpr std::array<float, kClasses> kH{0, 0.11f, 0.24f, 0.15f, 0.18f, 0.21f},
        kE{0, 0.20f, 0.21f, 0.21f, 0.22f, 0.20f};
    h = kH[static_cast<std::size_t>(gland.label)] + 0.05f * grain;
    e = kE[static_cast<std::size_t>(gland.label)] + 0.05f * grain;
    if (gland.label == 1 && depth > wall - 5) {
      h *= 0.55f;  // pale cytoplasm towards the lumen
      e *= 0.75f;
    }
  } else {
    // Lumen: empty, or with some secretion.
    const bool full = (gland.tint & 3u) == 0 && depth > wall + 4;
    h = gland.label == 3 && full ? 0.05f : 0.004f;
    e = full ? 0.10f + 0.03f * grain : 0.012f;
  }
  haematoxylin_[at] = std::max(0.0f, h);
  eosin_[at] = std::max(0.0f, e);
}

float TissueCanvas::stripe_phase(double y, double x, float bend_x, float bend_y) const {
  return static_cast<float>(0.8 * y + 0.6 * x) + 42 * bend_x + 30 * bend_y;
}

/// Wavy bundles of collagen and muscle with clefts between them.
void TissueCanvas::stain_stroma(std::int64_t index, double y, double x) {
  const auto at = static_cast<std::size_t>(index);
  const double across = static_cast<double>(stripe_phase(y, x, bend_x_[at], bend_y_[at]));
  const double along = 0.8 * x - 0.6 * y;
  const auto& noise = anatomy_->noise();
  const float fibre = noise(across / 3.6 + 13.4, along / 44 + 2.2);
  const float bundle = noise(across / 21 + 67.8, along / 90 + 99.9);
  float e = 0.225f + 0.075f * fibre + 0.07f * bundle;
  float h = 0.055f + 0.025f * bundle;
  if (fibre + 0.9f * bundle < -0.95f) {
    e *= 0.30f;
    h *= 0.30f;
  }
  haematoxylin_[at] = h;
  eosin_[at] = std::max(0.0f, e);
}

}  // namespace headrace::phantom
