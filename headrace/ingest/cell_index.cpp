#include "headrace/ingest/cell_index.hpp"

#include <algorithm>

namespace headrace::ingest {

CellCounts::CellCounts(std::int64_t height, std::int64_t width, std::int64_t cell_px,
                       std::size_t classes)
    : height_(height),
      width_(width),
      cell_px_(cell_px),
      cells_y_((height + cell_px - 1) / cell_px),
      cells_x_((width + cell_px - 1) / cell_px),
      classes_(classes),
      tissue_(static_cast<std::size_t>(cells_y_ * cells_x_)),
      labels_(tissue_.size() * classes),
      class_px_(classes) {}

void CellCounts::add_labels(const Box2& box, const std::uint8_t* labels) {
  const std::int64_t first_y = box.y0 / cell_px_, first_x = box.x0 / cell_px_;
  const std::int64_t wide = (box.x0 + box.width - 1) / cell_px_ - first_x + 1;
  const std::int64_t high = (box.y0 + box.height - 1) / cell_px_ - first_y + 1;
  std::vector<std::uint32_t> counts(static_cast<std::size_t>(high * wide) * 256);
  for (std::int64_t y = 0; y < box.height; ++y) {
    const std::int64_t row = ((box.y0 + y) / cell_px_ - first_y) * wide;
    const std::uint8_t* line = labels + y * box.width;
    for (std::int64_t x = 0; x < box.width;) {
      const std::int64_t cell = (box.x0 + x) / cell_px_;
      const std::int64_t end = std::min(box.width, (cell + 1) * cell_px_ - box.x0);
      std::uint32_t* count = &counts[static_cast<std::size_t>(row + cell - first_x) * 256];
      for (; x < end; ++x) ++count[line[x]];
    }
  }
  const std::lock_guard lock(mutex_);
  for (std::int64_t y = 0; y < high; ++y) {
    for (std::int64_t x = 0; x < wide; ++x) {
      const std::uint32_t* count = &counts[static_cast<std::size_t>(y * wide + x) * 256];
      const auto cell = static_cast<std::size_t>((first_y + y) * cells_x_ + first_x + x);
      for (std::size_t c = 0; c < classes_; ++c) {
        labels_[cell * classes_ + c] += count[c];
        class_px_[c] += count[c];
      }
    }
  }
}

void CellCounts::add_tissue(const Mask& tissue, std::int64_t downsample) {
  for (std::int64_t y = 0; y < tissue.height; ++y) {
    for (std::int64_t x = 0; x < tissue.width; ++x) {
      if (tissue.at(y, x) == 0) continue;
      const std::int64_t y0 = y * downsample, x0 = x * downsample;
      const std::int64_t high = std::min(downsample, height_ - y0),
                         wide = std::min(downsample, width_ - x0);
      if (high <= 0 || wide <= 0) continue;
      tissue_[static_cast<std::size_t>(y0 / cell_px_ * cells_x_ + x0 / cell_px_)] +=
          static_cast<std::uint32_t>(high * wide);
    }
  }
}

std::vector<std::uint32_t> CellCounts::rows() const {
  std::vector<std::uint32_t> rows;
  for (std::int64_t y = 0; y < cells_y_; ++y) {
    for (std::int64_t x = 0; x < cells_x_; ++x) {
      const auto cell = static_cast<std::size_t>(y * cells_x_ + x);
      const auto first = labels_.begin() + static_cast<std::ptrdiff_t>(cell * classes_);
      const auto last = first + static_cast<std::ptrdiff_t>(classes_);
      const bool annotated = std::any_of(classes_ > 0 ? first + 1 : last, last,
                                         [](std::uint32_t count) { return count > 0; });
      if (tissue_[cell] == 0 && !annotated) continue;
      rows.insert(rows.end(),
                  {static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(x), tissue_[cell]});
      rows.insert(rows.end(), first, last);
    }
  }
  return rows;
}

}  // namespace headrace::ingest
