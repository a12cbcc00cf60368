#include "headrace/ingest/cell_index.hpp"

#include <algorithm>

#include "headrace/ingest/small_array.hpp"

namespace headrace::ingest {
namespace {

std::int64_t cells_along(std::int64_t pixels, std::int64_t cell_px) {
  return (pixels + cell_px - 1) / cell_px;
}

void write_rows(storage::Store& store, const std::string& path, std::int64_t cell_px,
                const std::vector<std::uint32_t>& rows, std::int64_t columns) {
  write_small_array(store, path, {static_cast<std::int64_t>(rows.size()) / columns, columns},
                    DType::uint32, {}, {{"cell_size_px", cell_px}}, std::as_bytes(std::span(rows)));
}

}  // namespace

std::vector<std::uint32_t> tissue_cells(const Mask& tissue, std::int64_t downsample,
                                        std::int64_t height, std::int64_t width,
                                        std::int64_t cell_px) {
  const std::int64_t cells_y = cells_along(height, cell_px), cells_x = cells_along(width, cell_px);
  std::vector<std::uint32_t> sums(static_cast<std::size_t>(cells_y * cells_x));
  for (std::int64_t y = 0; y < tissue.height; ++y) {
    for (std::int64_t x = 0; x < tissue.width; ++x) {
      if (tissue.at(y, x) == 0) continue;
      const std::int64_t y0 = y * downsample, x0 = x * downsample;
      const std::int64_t high = std::min(downsample, height - y0),
                         wide = std::min(downsample, width - x0);
      if (high <= 0 || wide <= 0) continue;
      sums[static_cast<std::size_t>(y0 / cell_px * cells_x + x0 / cell_px)] +=
          static_cast<std::uint32_t>(high * wide);
    }
  }
  std::vector<std::uint32_t> rows;
  for (std::size_t cell = 0; cell < sums.size(); ++cell) {
    if (sums[cell] == 0) continue;
    const auto wide = static_cast<std::size_t>(cells_x);
    rows.insert(rows.end(), {static_cast<std::uint32_t>(cell / wide),
                             static_cast<std::uint32_t>(cell % wide), sums[cell]});
  }
  return rows;
}

void write_tissue_cells(storage::Store& store, const std::string& id, std::int64_t cell_px,
                        const std::vector<std::uint32_t>& rows) {
  write_rows(store, "index/" + id, cell_px, rows, 3);
}

LabelCells::LabelCells(std::int64_t height, std::int64_t width, std::int64_t cell_px,
                       std::size_t classes)
    : cell_px_(cell_px),
      cells_y_(cells_along(height, cell_px)),
      cells_x_(cells_along(width, cell_px)),
      classes_(classes),
      counts_(static_cast<std::size_t>(cells_y_ * cells_x_) * classes) {}

void LabelCells::add(const Box2& box, const std::uint8_t* labels) {
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
      for (std::size_t c = 0; c < classes_; ++c) counts_[cell * classes_ + c] += count[c];
    }
  }
}

std::size_t LabelCells::classes_seen() const {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] > 0) seen = std::max(seen, i % classes_ + 1);
  }
  return seen;
}

std::vector<std::uint32_t> LabelCells::rows() const {
  const std::size_t seen = classes_seen(), wide = static_cast<std::size_t>(cells_x_);
  std::vector<std::uint32_t> rows;
  for (std::size_t cell = 0; cell * classes_ < counts_.size(); ++cell) {
    const std::uint32_t* first = counts_.data() + cell * classes_;
    if (std::all_of(first, first + seen, [](std::uint32_t n) { return n == 0; })) continue;
    rows.insert(rows.end(),
                {static_cast<std::uint32_t>(cell / wide), static_cast<std::uint32_t>(cell % wide)});
    rows.insert(rows.end(), first, first + seen);
  }
  return rows;
}

void LabelCells::write(storage::Store& store, const std::string& group) const {
  write_rows(store, group + "/index", cell_px_, rows(),
             static_cast<std::int64_t>(2 + classes_seen()));
}

}  // namespace headrace::ingest
