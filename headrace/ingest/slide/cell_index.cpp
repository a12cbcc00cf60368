#include "headrace/ingest/slide/cell_index.hpp"

#include <algorithm>

#include "headrace/ingest/store/site_rows.hpp"
#include "headrace/ingest/store/small_array.hpp"

namespace headrace::ingest {
namespace {

std::int64_t cells_along(std::int64_t pixels, std::int64_t cell_px) {
  return (pixels + cell_px - 1) / cell_px;
}

}  // namespace

std::vector<std::uint32_t> tissue_cells(const pixels::Mask& tissue, std::int64_t downsample,
                                        std::int64_t height, std::int64_t width,
                                        std::int64_t cell_px) {
  const cohort::PartGrid grid = tissue_part_grid(cell_px);
  const std::int64_t part_px = grid.part_zyx[2];
  SiteRows sites(grid, {1, height, width});
  for (std::int64_t y = 0; y < tissue.height; ++y) {
    for (std::int64_t x = 0; x < tissue.width; ++x) {
      if (tissue.at(y, x) == 0) continue;
      // A pixel of the mask lies in one part, or covers some whole parts: both edges are powers of
      // two.
      const std::int64_t y1 = std::min((y + 1) * downsample, height),
                         x1 = std::min((x + 1) * downsample, width);
      const std::int64_t step = std::min(downsample, part_px);
      for (std::int64_t py = y * downsample; py < y1; py += step) {
        for (std::int64_t px = x * downsample; px < x1; px += step) {
          const std::int64_t pixels =
              (std::min(py + step, y1) - py) * (std::min(px + step, x1) - px);
          sites.add({0, py / cell_px, px / cell_px},
                    grid.part(0, py % cell_px / part_px, px % cell_px / part_px), 0, 0,
                    static_cast<std::uint32_t>(pixels));
        }
      }
    }
  }
  std::vector<std::uint32_t> rows;
  for (const cohort::SiteBlock& cell : sites.blocks()) {
    rows.insert(rows.end(), {cell.place_zyx[1], cell.place_zyx[2], cell.pixels});
    append_parts(cell.parts, rows);
  }
  return rows;
}

void write_tissue_cells(storage::Store& store, const std::string& id, std::int64_t cell_px,
                        const std::vector<std::uint32_t>& rows) {
  constexpr std::int64_t kColumns = 11;
  write_small_array(store, "index/" + id,
                    {static_cast<std::int64_t>(rows.size()) / kColumns, kColumns}, DType::uint32,
                    {}, {{"cell_size_px", cell_px}, {"part", {cell_px / 16, cell_px / 16}}},
                    std::as_bytes(std::span(rows)));
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
  const auto columns = static_cast<std::int64_t>(2 + classes_seen());
  const std::vector<std::uint32_t> rows = this->rows();
  write_small_array(store, group + "/index",
                    {static_cast<std::int64_t>(rows.size()) / columns, columns}, DType::uint32, {},
                    {{"cell_size_px", cell_px_}}, std::as_bytes(std::span(rows)));
}

}  // namespace headrace::ingest
