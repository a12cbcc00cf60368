#include "headrace/phantom/slice_canvas.hpp"

namespace headrace::phantom {
namespace {

constexpr float kFarOutside = -1e6f;
constexpr float kBodyX = 165, kBodyY = 112;

float square(float x) { return x * x; }

}  // namespace

SliceCanvas::Range SliceCanvas::columns(float low, float high) const {
  const float scale = anatomy_->scale()[0], reach = BodyAnatomy::kBendMm * scale,
              half = 0.5f * static_cast<float>(size_);
  const float a = (low * scale - reach) / pixel_ + half, b = (high * scale + reach) / pixel_ + half;
  const auto last = static_cast<float>(size_);
  return {static_cast<std::int64_t>(std::clamp(a - 1, 0.0f, last)),
          static_cast<std::int64_t>(std::clamp(b + 1, 0.0f, last))};
}

SliceCanvas::Range SliceCanvas::rows(float low, float high) const {
  const float scale = anatomy_->scale()[1], reach = BodyAnatomy::kBendMm * scale,
              half = 0.5f * static_cast<float>(size_);
  const float a = (low * scale - reach) / pixel_ + half, b = (high * scale + reach) / pixel_ + half;
  const auto last = static_cast<float>(size_);
  return {static_cast<std::int64_t>(std::clamp(a - 1, 0.0f, last)),
          static_cast<std::int64_t>(std::clamp(b + 1, 0.0f, last))};
}

void SliceCanvas::begin(const BodyAnatomy& anatomy, std::int64_t size, float z_mm) {
  anatomy_ = &anatomy;
  size_ = size;
  z_ = z_mm;
  pixel_ = kFieldOfViewMm / static_cast<float>(size);
  const auto count = static_cast<std::size_t>(size * size);
  for (auto* plane : {&sx_, &sy_, &sz_, &hu_, &grain_}) plane->resize(count);
  body_.assign(count, 2.0f);
  const Range across = columns(-kBodyX, kBodyX), down = rows(-kBodyY, kBodyY);
  for (std::int64_t y = down.low; y < down.high; ++y) {
    for (std::int64_t x = across.low; x < across.high; ++x) {
      const auto i = static_cast<std::size_t>(y * size + x);
      const float half = 0.5f * static_cast<float>(size) - 0.5f;
      const Point3 at = anatomy.to_standard(
          {(static_cast<float>(x) - half) * pixel_, (static_cast<float>(y) - half) * pixel_, z_mm});
      sx_[i] = at[0];
      sy_[i] = at[1];
      sz_[i] = at[2];
      body_[i] = std::sqrt(square(at[0] / kBodyX) + square(at[1] / kBodyY));
    }
  }
  lay_tube(anatomy.colon(), colon_);
}

void SliceCanvas::lay_tube(const std::vector<Bead>& beads, Field& field) const {
  field.inside.assign(sx_.size(), kFarOutside);
  field.bead.resize(sx_.size());
  for (std::size_t k = 0; k < beads.size(); ++k) {
    const Bead& bead = beads[k];
    const float reach = bead.radius + pixel_;
    if (std::abs(bead.at[2] - z_) > reach + BodyAnatomy::kBendMm) continue;
    const Range across = columns(bead.at[0] - reach, bead.at[0] + reach);
    const Range down = rows(bead.at[1] - reach, bead.at[1] + reach);
    for (std::int64_t y = down.low; y < down.high; ++y) {
      for (std::int64_t x = across.low; x < across.high; ++x) {
        const auto i = static_cast<std::size_t>(y * size_ + x);
        const float inside =
            bead.radius - std::sqrt(square(sx_[i] - bead.at[0]) + square(sy_[i] - bead.at[1]) +
                                    square(sz_[i] - bead.at[2]));
        if (inside > field.inside[i]) {
          field.inside[i] = inside;
          field.bead[i] = static_cast<std::uint16_t>(k);
        }
      }
    }
  }
}

void SliceCanvas::labels(std::uint8_t* dst) const {
  for (std::size_t i = 0; i < sx_.size(); ++i)
    dst[i] = colon_.inside[i] > 0 ? kColonLabel : kBackground;
  const float half = 0.5f * static_cast<float>(size_) - 0.5f;
  for (const BodyLesion& lesion : anatomy_->lesions()) {
    const float reach = lesion.reach();
    if (std::abs(z_ - lesion.centre[2]) > reach) continue;
    for (std::int64_t y = 0; y < size_; ++y) {
      const float at_y = (static_cast<float>(y) - half) * pixel_;
      if (std::abs(at_y - lesion.centre[1]) > reach) continue;
      for (std::int64_t x = 0; x < size_; ++x) {
        const float at_x = (static_cast<float>(x) - half) * pixel_;
        if (std::abs(at_x - lesion.centre[0]) > reach) continue;
        if (lesion.depth(anatomy_->noise(), {at_x, at_y, z_}) > 0)
          dst[y * size_ + x] = kLesionLabel;
      }
    }
  }
}

void SliceCanvas::draw(const std::array<float, kTissues>& hu) {
  table_ = hu;
  std::fill(hu_.begin(), hu_.end(), hu[static_cast<std::size_t>(Tissue::air)]);
  std::fill(grain_.begin(), grain_.end(), 0.0f);
  lay_tube(anatomy_->small_bowel(), bowel_);
  lay_tube(anatomy_->arteries(), artery_);
  lay_tube(anatomy_->veins(), vein_);
  draw_table();
  draw_trunk();
  draw_organs();
  draw_vessels();
  draw_bones();
  draw_gut();
  draw_colon();
  draw_lesions();
  add_grain();
}

float SliceCanvas::branches(std::size_t i, float scale_mm, float width) const {
  const NoiseVolume& noise = anatomy_->noise();
  const float x = sx_[i] / scale_mm, y = sy_[i] / scale_mm, z = sz_[i] / scale_mm;
  const float a = noise(x + 4.4f, y + 9.2f, z + 1.7f), b = noise(x + 17.9f, y + 2.3f, z + 25.1f);
  return std::clamp((width - std::sqrt(a * a + b * b)) / (0.5f * width), 0.0f, 1.0f);
}

void SliceCanvas::draw_colon() {
  constexpr float kWallMm = 3.5f;
  const NoiseVolume& noise = anatomy_->noise();
  for (std::size_t i = 0; i < hu_.size(); ++i) {
    if (colon_.inside[i] < -pixel_) continue;
    const Bead& bead = anatomy_->colon()[colon_.bead[i]];
    paint(i, cover(colon_.inside[i]), Tissue::colon_wall, 5);
    const float lumen = cover(colon_.inside[i] - kWallMm);
    if (lumen <= 0) continue;
    // Heavy content lies at the back: gas above a level, liquid or stool below it.
    const float level = 0.15f + 0.9f * noise(bead.mm / 55, 31.2f, 8.4f);
    const float below = cover(sy_[i] - bead.at[1] - level * bead.radius);
    const bool stool = noise(bead.mm / 70, 5.8f, 27.3f) > 0.15f;
    paint(i, lumen, Tissue::gas);
    paint(i, lumen * below, stool ? Tissue::stool : Tissue::fluid, stool ? 70.0f : 3.0f);
  }
}

void SliceCanvas::draw_lesions() {
  const float half = 0.5f * static_cast<float>(size_) - 0.5f;
  for (const BodyLesion& lesion : anatomy_->lesions()) {
    const float reach = lesion.reach() + pixel_;
    if (std::abs(z_ - lesion.centre[2]) > reach) continue;
    for (std::int64_t y = 0; y < size_; ++y) {
      const float at_y = (static_cast<float>(y) - half) * pixel_;
      if (std::abs(at_y - lesion.centre[1]) > reach) continue;
      for (std::int64_t x = 0; x < size_; ++x) {
        const float at_x = (static_cast<float>(x) - half) * pixel_;
        if (std::abs(at_x - lesion.centre[0]) > reach) continue;
        const auto i = static_cast<std::size_t>(y * size_ + x);
        const float depth = lesion.depth(anatomy_->noise(), {at_x, at_y, z_});
        paint(i, cover(depth), Tissue::lesion, 14);
        // The middle of a large one has less blood.
        paint(i, 0.9f * std::clamp((depth - 7) / 4, 0.0f, 1.0f), Tissue::lesion_core, 10);
      }
    }
  }
}

void SliceCanvas::add_grain() {
  const NoiseVolume& noise = anatomy_->noise();
  constexpr float kStep = 1 / 4.5f;
  for (std::size_t i = 0; i < hu_.size(); ++i) {
    if (grain_[i] > 0) hu_[i] += grain_[i] * noise(sx_[i] * kStep, sy_[i] * kStep, sz_[i] * kStep);
  }
}

}  // namespace headrace::phantom
