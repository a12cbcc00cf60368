#include "headrace/ingest/volume/body_mask.hpp"

#include <algorithm>
#include <cmath>

#include "headrace/pixels/components.hpp"

namespace headrace::ingest {
namespace {

void keep_largest(pixels::BitVolume& mask) {
  const pixels::Components components = pixels::find_components(mask, pixels::Neighbours::faces);
  if (components.sizes.empty()) return;
  const std::uint32_t largest = components.largest();
  for (const pixels::Run& run : components.runs) {
    if (run.component != largest) pixels::fill_run(run, false, mask);
  }
}

pixels::BitVolume inverse(const pixels::BitVolume& mask) {
  pixels::BitVolume out(mask.shape_zyx());
  for (std::int64_t z = 0; z < mask.shape_zyx()[0]; ++z) {
    for (std::int64_t y = 0; y < mask.shape_zyx()[1]; ++y) {
      for (std::int64_t w = 0; w < mask.words_per_row(); ++w) out.row(z, y)[w] = ~mask.row(z, y)[w];
      out.row(z, y)[mask.words_per_row() - 1] &= mask.last_word_mask();
    }
  }
  return out;
}

void fill_holes_of_slices(pixels::BitVolume& mask) {
  const auto [depth, height, width] = mask.shape_zyx();
  const pixels::Components outside =
      pixels::find_components(inverse(mask), pixels::Neighbours::faces, true);
  std::vector<bool> open(outside.sizes.size());
  for (const pixels::Run& run : outside.runs) {
    if (run.x0 == 0 || run.x1 == width || run.y == 0 || run.y == height - 1)
      open[run.component] = true;
  }
  for (const pixels::Run& run : outside.runs) {
    if (!open[run.component]) pixels::fill_run(run, true, mask);
  }
}

class CpuBodyPasses : public BodyPasses {
 public:
  explicit CpuBodyPasses(pixels::BitVolume above) : above_(std::move(above)) {}
  pixels::BitVolume eroded(int ry, int rx) override { return pixels::erode_slices(above_, ry, rx); }
  pixels::BitVolume grown(const pixels::BitVolume& core, int ry, int rx) override {
    pixels::BitVolume body = pixels::dilate_slices(core, ry, rx);
    intersect(body, above_);
    return body;
  }

 private:
  pixels::BitVolume above_;
};

}  // namespace

pixels::BitVolume body_mask(pixels::BitVolume above, const std::array<double, 3>& spacing_mm_zyx) {
  CpuBodyPasses passes(std::move(above));
  return body_mask(passes, spacing_mm_zyx);
}

pixels::BitVolume body_mask(BodyPasses& passes, const std::array<double, 3>& spacing_mm_zyx) {
  const auto radius = [](double spacing_mm) {
    return std::clamp(static_cast<int>(std::lround(kTableThicknessMm / 2 / spacing_mm)), 0, 16);
  };
  const int ry = radius(spacing_mm_zyx[1]), rx = radius(spacing_mm_zyx[2]);
  pixels::BitVolume body = passes.eroded(ry, rx);
  keep_largest(body);
  body = passes.grown(body, ry, rx);
  fill_holes_of_slices(body);
  return body;
}

}  // namespace headrace::ingest
