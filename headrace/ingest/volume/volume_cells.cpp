#include "headrace/ingest/volume/volume_cells.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "headrace/ingest/store/site_rows.hpp"

namespace headrace::ingest {
namespace {

constexpr int kCellsPerWord = 64 / static_cast<int>(kVolumeCell);
constexpr std::uint64_t kCellBits = (std::uint64_t{1} << kVolumeCell) - 1;
static_assert(64 % kVolumeCell == 0);

using Shape = std::array<std::int64_t, 3>;
using Rows = std::vector<std::uint32_t>;

std::int64_t cells_along(std::int64_t voxels) { return (voxels + kVolumeCell - 1) / kVolumeCell; }

/// Counts of `columns` kinds in each cell of one layer of cells.
class CellLayer {
 public:
  CellLayer(const Shape& shape, std::size_t columns, std::int64_t cell_z)
      : columns_(columns),
        cell_z_(cell_z),
        cells_y_(cells_along(shape[1])),
        cells_x_(cells_along(shape[2])),
        end_z_(std::min(shape[0], (cell_z + 1) * kVolumeCell)),
        counts_(static_cast<std::size_t>(cells_y_ * cells_x_) * columns) {}

  std::int64_t first_z() const { return cell_z_ * kVolumeCell; }
  std::int64_t end_z() const { return end_z_; }
  std::int64_t cells_x() const { return cells_x_; }
  std::uint32_t* cell(std::int64_t cell_y, std::int64_t cell_x) {
    return &counts_[static_cast<std::size_t>(cell_y * cells_x_ + cell_x) * columns_];
  }

  /// Appends place and first `kept` counts of the cells in which one of these is above 0.
  void append_rows(std::size_t kept, Rows& rows) {
    for (std::int64_t y = 0; y < cells_y_; ++y) {
      for (std::int64_t x = 0; x < cells_x_; ++x) {
        const std::uint32_t* count = cell(y, x);
        if (std::all_of(count, count + kept, [](std::uint32_t n) { return n == 0; })) continue;
        rows.insert(rows.end(), {static_cast<std::uint32_t>(cell_z_), static_cast<std::uint32_t>(y),
                                 static_cast<std::uint32_t>(x)});
        rows.insert(rows.end(), count, count + kept);
      }
    }
  }

  /// Number of columns, of the first `classes`, up to the last that is not 0 in every cell.
  std::size_t columns_seen(std::size_t classes) const {
    std::size_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] > 0 && i % columns_ < classes) seen = std::max(seen, i % columns_ + 1);
    }
    return seen;
  }

 private:
  std::size_t columns_;
  std::int64_t cell_z_, cells_y_, cells_x_, end_z_;
  std::vector<std::uint32_t> counts_;
};

/// Counts of one layer of cells, and which parts of each hold body.
struct BodyLayer {
  BodyLayer(const Shape& shape, const cohort::PartGrid& parts, std::int64_t cell_z)
      : counts(shape, 1, cell_z),
        grid(parts),
        bits(static_cast<std::size_t>(cells_along(shape[1]) * cells_along(shape[2]))) {}

  void add_row(const pixels::BitVolume& body, std::int64_t z, std::int64_t y) {
    const std::uint64_t* row = body.row(z, y);
    const std::int64_t pz = z % kVolumeCell / grid.part_zyx[0],
                       py = y % kVolumeCell / grid.part_zyx[1];
    for (std::int64_t w = 0; w < body.words_per_row(); ++w) {
      if (row[w] == 0) continue;
      for (int piece = 0; piece < kCellsPerWord; ++piece) {
        std::uint64_t voxels = row[w] >> (piece * kVolumeCell) & kCellBits;
        if (voxels == 0) continue;  // also beyond the last cell
        const std::int64_t x = w * kCellsPerWord + piece;
        *counts.cell(y / kVolumeCell, x) += static_cast<std::uint32_t>(std::popcount(voxels));
        cohort::PartBits& set =
            bits[static_cast<std::size_t>(y / kVolumeCell * counts.cells_x() + x)];
        const std::uint64_t of_part = (std::uint64_t{1} << grid.part_zyx[2]) - 1;
        for (std::int64_t px = 0; voxels != 0; ++px, voxels >>= grid.part_zyx[2]) {
          if ((voxels & of_part) != 0) set.set(grid.part(pz, py, px));
        }
      }
    }
  }

  CellLayer counts;
  cohort::PartGrid grid;
  std::vector<cohort::PartBits> bits;
};

void add_labels(const std::uint8_t* row, std::int64_t y, std::int64_t width, std::size_t classes,
                CellLayer& layer) {
  for (std::int64_t x = 0; x < layer.cells_x(); ++x) {
    std::uint32_t* count = layer.cell(y / kVolumeCell, x);
    const std::int64_t end = std::min(width, (x + 1) * kVolumeCell);
    for (std::int64_t i = x * kVolumeCell; i < end; ++i)
      ++count[std::min<std::size_t>(row[i], classes)];
  }
}

Rows together(const std::vector<Rows>& parts) {
  Rows rows;
  for (const auto& part : parts) rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

}  // namespace

std::vector<std::uint32_t> count_body_cells(const pixels::BitVolume& body,
                                            const cohort::PartGrid& grid, ThreadPool& pool) {
  const Shape shape = body.shape_zyx();
  std::vector<Rows> parts(static_cast<std::size_t>(cells_along(shape[0])));
  pool.parallel_for(parts.size(), [&](std::size_t i) {
    BodyLayer layer(shape, grid, static_cast<std::int64_t>(i));
    for (std::int64_t z = layer.counts.first_z(); z < layer.counts.end_z(); ++z) {
      for (std::int64_t y = 0; y < shape[1]; ++y) layer.add_row(body, z, y);
    }
    Rows cells;
    layer.counts.append_rows(1, cells);
    for (auto cell = cells.begin(); cell != cells.end(); cell += 4) {
      parts[i].insert(parts[i].end(), cell, cell + 4);
      append_parts(layer.bits[static_cast<std::size_t>(cell[1] * layer.counts.cells_x() + cell[2])],
                   parts[i]);
    }
  });
  return together(parts);
}

LabelCellRows count_label_cells(const std::uint8_t* labels, const Shape& shape, std::size_t classes,
                                ThreadPool& pool) {
  std::vector<CellLayer> layers;
  for (std::int64_t z = 0; z < cells_along(shape[0]); ++z)
    layers.emplace_back(shape, classes + 1, z);  // the last column: values of no class
  pool.parallel_for(layers.size(), [&](std::size_t i) {
    for (std::int64_t z = layers[i].first_z(); z < layers[i].end_z(); ++z) {
      for (std::int64_t y = 0; y < shape[1]; ++y) {
        add_labels(labels + (z * shape[1] + y) * shape[2], y, shape[2], classes, layers[i]);
      }
    }
  });
  std::size_t seen = 0;
  for (auto& layer : layers) seen = std::max(seen, layer.columns_seen(classes));
  std::vector<Rows> parts(layers.size());
  pool.parallel_for(layers.size(), [&](std::size_t i) { layers[i].append_rows(seen, parts[i]); });
  return {3 + seen, together(parts)};
}

}  // namespace headrace::ingest
