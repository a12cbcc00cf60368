#include <algorithm>
#include <cmath>

#include "headrace/phantom/tissue_canvas.hpp"

namespace headrace::phantom {
namespace {

constexpr double kHoleStep = 30, kStromaNucleusStep = 19, kEpithelialNucleusStep = 8.3;

/// A direction out of two words.
void turn(std::uint32_t a, std::uint32_t b, float& cosine, float& sine) {
  const float x = between(a, -1, 1), y = between(b, -1, 1) + 1e-6f;
  const float length = std::sqrt(x * x + y * y);
  cosine = x / length;
  sine = y / length;
}

/// Other bits of a word that was used already.
std::uint32_t again(std::uint32_t word) { return word * 2654435761u; }

}  // namespace

void TissueCanvas::draw(const Blob& blob) {
  const float mean = 0.5f * (blob.a + blob.b), steep = mean / (2 * blob.edge);
  const float inverse_a = 1 / blob.a, inverse_b = 1 / blob.b;
  each_pixel(blob.y, blob.x, static_cast<double>(std::max(blob.a, blob.b) + 2 * blob.edge),
             [&](std::int64_t i, double y, double x) {
               const float dx = static_cast<float>(x - blob.x), dy = static_cast<float>(y - blob.y);
               const float u = (dx * blob.cosine + dy * blob.sine) * inverse_a,
                           v = (dy * blob.cosine - dx * blob.sine) * inverse_b;
               const float q = u * u + v * v;
               const float cover = std::min(1.0f, (1 - q) * steep + 0.5f);
               if (cover <= 0) return;
               float h = blob.haematoxylin;
               if (blob.chromatin) {
                 h *= 0.92f + 0.22f * anatomy_->noise()(x / 1.15 + 3.3, y / 1.15 + 8.8);
                 if (q > 0.55f) h *= 1.12f;  // the rim is darker
               }
               if (blob.nucleolus && q < 0.09f) h += 0.30f;
               const auto at = static_cast<std::size_t>(i);
               haematoxylin_[at] += (h - haematoxylin_[at]) * cover;
               eosin_[at] += (blob.eosin - eosin_[at]) * cover;
             });
}

void TissueCanvas::find_holes() {
  holes_.clear();
  const bool any =
      std::any_of(glands_.begin(), glands_.end(), [](const Gland& g) { return g.label == 4; });
  if (!any) return;
  strew(Purpose::lumen_hole, kHoleStep, kHoleMargin,
        [&](double y, double x, const math::Philox4& words) {
          const Site site = anatomy_->site(glands_, y, x);
          if (site.gland == nullptr || site.gland->label != 4) return;
          // Cribriform masses have wide round holes, fused and poorly formed glands narrow ones.
          const bool cribriform = (site.gland->tint & 3u) != 0;
          const float radius =
              cribriform ? between(words.v[2], 7, 11.5f) : between(words.v[2], 3, 6);
          if (site.depth > radius + 4 && (words.v[3] & 7u) != 0) holes_.push_back({y, x, radius});
        });
}

void TissueCanvas::draw_holes() {
  for (const Hole& hole : holes_)
    draw({hole.y, hole.x, hole.radius, hole.radius * 0.9f, 1, 0, 0.006f, 0.014f, 0.7f, false,
          false});
}

bool TissueCanvas::in_hole(double y, double x, float margin) const {
  return std::any_of(holes_.begin(), holes_.end(), [&](const Hole& hole) {
    const double reach = static_cast<double>(hole.radius + margin);
    return (hole.y - y) * (hole.y - y) + (hole.x - x) * (hole.x - x) < reach * reach;
  });
}

void TissueCanvas::draw_free_cells() {
  each_free_cell([&](double y, double x, const math::Philox4& words) {
    Blob cell{y,
              x,
              between(words.v[2], 6, 7.5f),
              between(words.v[3], 5, 7),
              1,
              0,
              0.13f,
              0.22f,
              1.0f,
              false,
              false};
    turn(again(words.v[2]), again(words.v[3]), cell.cosine, cell.sine);
    draw(cell);
    const float size = between(again(words.v[0]), 3.7f, 5.2f);
    draw({y + static_cast<double>(between(again(words.v[1]), -1, 1)), x, size, size * 0.82f,
          cell.cosine, cell.sine, 0.78f, 0.10f, 0.45f, true, true});
  });
}

void TissueCanvas::draw_stroma_nuclei() {
  strew(Purpose::stroma_nucleus, kStromaNucleusStep, kNucleusMargin,
        [&](double y, double x, const math::Philox4& words) {
          if ((words.v[2] & 15u) > 8u || anatomy_->tissue_depth(y, x) < 4) return;
          if (anatomy_->site(glands_, y, x).gland != nullptr) return;
          // Along the fibres: across the gradient of their phase.
          const auto phase = [&](double py, double px) {
            const auto bend = anatomy_->bend(py, px);
            return stripe_phase(py, px, bend[0], bend[1]);
          };
          const float here = phase(y, x), gx = phase(y, x + 3) - here, gy = phase(y + 3, x) - here;
          const float length = std::sqrt(gx * gx + gy * gy) + 1e-6f;
          draw({y, x, between(words.v[2], 4.2f, 7.5f), between(words.v[3], 1.3f, 2.1f),
                -gy / length, gx / length, 0.62f, 0.12f, 0.4f, true, false});
        });
}

void TissueCanvas::draw_epithelial_nuclei() {
  strew(Purpose::epithelial_nucleus, kEpithelialNucleusStep, kNucleusMargin,
        [&](double y, double x, const math::Philox4& words) {
          const Site site = anatomy_->site(glands_, y, x);
          if (site.gland == nullptr) return;
          Blob blob{};
          if (epithelial_nucleus(site, y, x, words, blob)) draw(blob);
        });
}

/// Where the nucleus of a lattice point lies and how it looks; single layers are drawn to their
/// depth in the wall.
bool TissueCanvas::epithelial_nucleus(const Site& site, double y, double x,
                                      const math::Philox4& words, Blob& blob) const {
  const Gland& gland = *site.gland;
  const float size = math::uniform01(words.v[2]), tone = between(words.v[3], -0.06f, 0.06f);
  float target = site.depth;
  blob = {y, x, 3.6f, 3.1f, 1, 0, 0.6f + tone, 0.10f, 0.4f, true, false};
  turn(again(words.v[2]), again(words.v[3]), blob.cosine, blob.sine);
  const float out_y = static_cast<float>(y - gland.y), out_x = static_cast<float>(x - gland.x);
  const float length = std::sqrt(out_y * out_y + out_x * out_x) + 1e-3f;
  switch (gland.label) {
    case 1:
      if (site.depth < 8) {
        target = 3.2f;  // flat basal cells, along the membrane
        blob.a = 2.9f + size;
        blob.b = 1.7f;
        blob.haematoxylin = 0.66f + tone;
        blob.cosine = -out_y / length;
        blob.sine = out_x / length;
      } else if (site.depth < 16.5f) {
        target = 11.5f;
        blob.a = 3.1f + 0.6f * size;
        blob.b = 2.9f;
        blob.haematoxylin = 0.50f + tone;
      } else {
        return false;
      }
      break;
    case 2:
      if (site.depth < 2.5f || site.depth > gland.wall) return false;
      blob.a = 4.0f + 1.3f * size;
      blob.b = 3.0f;
      blob.cosine = out_x / length;
      blob.sine = out_y / length;
      blob.haematoxylin = 0.76f + tone;
      blob.nucleolus = true;
      break;
    case 3:
      if (site.depth > 9.5f) return false;
      target = 4.8f;
      blob.a = 3.3f + 0.8f * size;
      blob.b = 3.2f;
      blob.haematoxylin = 0.66f + tone;
      blob.nucleolus = true;
      break;
    default: {
      const bool sheet = gland.label == 5;
      if (site.depth < 2.5f || (!sheet && in_hole(y, x, 3.2f))) return false;
      blob.a = (sheet ? 3.6f : 3.4f) + (sheet ? 1.9f : 0.9f) * size;
      blob.b = sheet ? 3.4f : 3.2f;
      blob.haematoxylin = (sheet ? 0.76f : 0.66f) + 1.5f * tone;
      blob.nucleolus = true;
    }
  }
  if (anatomy_->tissue_depth(y, x) < 2) return false;
  const float radius_now = 1 - site.depth / gland.radius, radius_then = 1 - target / gland.radius;
  if (target != site.depth && radius_now > 0.05f) {
    const double factor = static_cast<double>(radius_then / radius_now);
    blob.y = gland.y + (y - gland.y) * factor;
    blob.x = gland.x + (x - gland.x) * factor;
  }
  return true;
}

}  // namespace headrace::phantom
