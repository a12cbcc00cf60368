#include "headrace/ingest/volumes/volume_cells.hpp"

#include <algorithm>

namespace headrace::ingest {
namespace {

constexpr int kCellsPerWord = 64 / static_cast<int>(kVolumeCell);
constexpr std::uint64_t kCellBits = (std::uint64_t{1} << kVolumeCell) - 1;
static_assert(64 % kVolumeCell == 0);

/// One layer of cells.
class CellLayer {
 public:
  CellLayer(const BitVolume& body, const std::uint8_t* labels, std::size_t classes,
            std::int64_t cell_z)
      : body_(body),
        classes_(classes),
        cell_z_(cell_z),
        cells_y_((body.shape_zyx()[1] + kVolumeCell - 1) / kVolumeCell),
        cells_x_((body.shape_zyx()[2] + kVolumeCell - 1) / kVolumeCell),
        body_voxels_(static_cast<std::size_t>(cells_y_ * cells_x_)) {
    label_voxels_.resize(body_voxels_.size() * (classes_ + 1));
    const auto [depth, height, width] = body.shape_zyx();
    const std::int64_t end = std::min(depth, (cell_z + 1) * kVolumeCell);
    for (std::int64_t z = cell_z * kVolumeCell; z < end; ++z) {
      for (std::int64_t y = 0; y < height; ++y) {
        add_body(z, y);
        if (labels != nullptr) add_labels(labels + (z * height + y) * width, y, width);
      }
    }
  }

  void append_rows(std::vector<std::uint32_t>& rows) const {
    for (std::int64_t y = 0; y < cells_y_; ++y) {
      for (std::int64_t x = 0; x < cells_x_; ++x) append_row(y, x, rows);
    }
  }

 private:
  std::size_t cell(std::int64_t cell_y, std::int64_t cell_x) const {
    return static_cast<std::size_t>(cell_y * cells_x_ + cell_x);
  }

  void add_body(std::int64_t z, std::int64_t y) {
    const std::uint64_t* row = body_.row(z, y);
    for (std::int64_t w = 0; w < body_.words_per_row(); ++w) {
      if (row[w] == 0) continue;
      for (int part = 0; part < kCellsPerWord; ++part) {
        const std::uint64_t bits = row[w] >> (part * kVolumeCell) & kCellBits;
        if (bits == 0) continue;  // also beyond the last cell
        body_voxels_[cell(y / kVolumeCell, w * kCellsPerWord + part)] +=
            static_cast<std::uint32_t>(std::popcount(bits));
      }
    }
  }

  void add_labels(const std::uint8_t* row, std::int64_t y, std::int64_t width) {
    for (std::int64_t x = 0; x < cells_x_; ++x) {
      std::uint32_t* count = &label_voxels_[cell(y / kVolumeCell, x) * (classes_ + 1)];
      const std::int64_t end = std::min(width, (x + 1) * kVolumeCell);
      for (std::int64_t i = x * kVolumeCell; i < end; ++i)
        ++count[std::min<std::size_t>(row[i], classes_)];
    }
  }

  void append_row(std::int64_t y, std::int64_t x, std::vector<std::uint32_t>& rows) const {
    const std::size_t at = cell(y, x);
    const std::uint32_t* count = &label_voxels_[at * (classes_ + 1)];
    const bool annotated = classes_ > 0 && std::any_of(count + 1, count + classes_,
                                                       [](std::uint32_t n) { return n > 0; });
    if (body_voxels_[at] == 0 && !annotated) return;
    rows.insert(rows.end(), {static_cast<std::uint32_t>(cell_z_), static_cast<std::uint32_t>(y),
                             static_cast<std::uint32_t>(x), body_voxels_[at]});
    rows.insert(rows.end(), count, count + classes_);
  }

  const BitVolume& body_;
  std::size_t classes_;
  std::int64_t cell_z_, cells_y_, cells_x_;
  std::vector<std::uint32_t> body_voxels_;
  std::vector<std::uint32_t> label_voxels_;  // [cell][class], and one for values of no class
};

}  // namespace

std::vector<std::uint32_t> count_cells(const BitVolume& body, const std::uint8_t* labels,
                                       std::size_t classes, ThreadPool& pool) {
  const std::int64_t layers = (body.shape_zyx()[0] + kVolumeCell - 1) / kVolumeCell;
  std::vector<std::vector<std::uint32_t>> parts(static_cast<std::size_t>(layers));
  pool.parallel_for(parts.size(), [&](std::size_t layer) {
    CellLayer(body, labels, classes, static_cast<std::int64_t>(layer)).append_rows(parts[layer]);
  });
  std::vector<std::uint32_t> rows;
  for (const auto& part : parts) rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

}  // namespace headrace::ingest
