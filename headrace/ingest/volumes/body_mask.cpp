#include "headrace/ingest/volumes/body_mask.hpp"

#include <algorithm>
#include <cmath>

#include "headrace/ingest/volumes/volume_components.hpp"

namespace headrace::ingest {
namespace {

void keep_largest(BitVolume& mask) {
  const Components components = find_components(mask, Neighbours::faces);
  if (components.sizes.empty()) return;
  const std::uint32_t largest = components.largest();
  for (const Run& run : components.runs) {
    if (run.component != largest) fill_run(run, false, mask);
  }
}

BitVolume inverse(const BitVolume& mask) {
  BitVolume out(mask.shape_zyx());
  for (std::int64_t z = 0; z < mask.shape_zyx()[0]; ++z) {
    for (std::int64_t y = 0; y < mask.shape_zyx()[1]; ++y) {
      for (std::int64_t w = 0; w < mask.words_per_row(); ++w) out.row(z, y)[w] = ~mask.row(z, y)[w];
      out.row(z, y)[mask.words_per_row() - 1] &= mask.last_word_mask();
    }
  }
  return out;
}

void fill_holes_of_slices(BitVolume& mask) {
  const auto [depth, height, width] = mask.shape_zyx();
  const Components outside = find_components(inverse(mask), Neighbours::faces, true);
  std::vector<bool> open(outside.sizes.size());
  for (const Run& run : outside.runs) {
    if (run.x0 == 0 || run.x1 == width || run.y == 0 || run.y == height - 1)
      open[run.component] = true;
  }
  for (const Run& run : outside.runs) {
    if (!open[run.component]) fill_run(run, true, mask);
  }
}

class CpuBodyPasses : public BodyPasses {
 public:
  explicit CpuBodyPasses(BitVolume above) : above_(std::move(above)) {}
  BitVolume eroded(int ry, int rx) override { return erode_slices(above_, ry, rx); }
  BitVolume grown(const BitVolume& core, int ry, int rx) override {
    BitVolume body = dilate_slices(core, ry, rx);
    intersect(body, above_);
    return body;
  }

 private:
  BitVolume above_;
};

}  // namespace

BitVolume body_mask(BitVolume above, const std::array<double, 3>& spacing_mm_zyx) {
  CpuBodyPasses passes(std::move(above));
  return body_mask(passes, spacing_mm_zyx);
}

BitVolume body_mask(BodyPasses& passes, const std::array<double, 3>& spacing_mm_zyx) {
  const auto radius = [](double spacing_mm) {
    return std::clamp(static_cast<int>(std::lround(kTableThicknessMm / 2 / spacing_mm)), 0, 16);
  };
  const int ry = radius(spacing_mm_zyx[1]), rx = radius(spacing_mm_zyx[2]);
  BitVolume body = passes.eroded(ry, rx);
  keep_largest(body);
  body = passes.grown(body, ry, rx);
  fill_holes_of_slices(body);
  return body;
}

}  // namespace headrace::ingest
