#include "headrace/loader/training_cells.hpp"

#include <algorithm>
#include <utility>

#include "headrace/loader/level_choice.hpp"

namespace headrace::loader::detail {

TrainingCells<2> slide_cells(const source::Cohort& cohort, std::uint32_t image,
                             const RunConfig& config) {
  const source::ImageRecord& record = cohort.images()[image];
  const source::ImageLevel& level = record.levels.front();
  source::CellIndex index = cohort.cells(image, config.data.labels);
  TrainingCells<2> result;
  result.image.size = {static_cast<double>(level.height), static_cast<double>(level.width)};
  result.image.any_high = result.image.size;
  result.image.cell_size = {index.cell_size_px, index.cell_size_px};
  if (config.sampling.keep_inside) {
    const std::array<double, 2> mpp = level_mpp_yx(record, 0, config);
    result.image.margin = {0.5 * config.patch.height * config.patch.mpp / mpp[0],
                           0.5 * config.patch.width * config.patch.mpp / mpp[1]};
  }
  result.image.cells.reserve(index.cell_y.size());
  for (std::size_t k = 0; k < index.cell_y.size(); ++k)
    result.image.cells.push_back({index.cell_y[k], index.cell_x[k]});
  result.amounts = {std::move(index.tissue_px), std::move(index.class_px)};
  return result;
}

std::array<std::array<std::int64_t, 3>, 2> body_box(const source::VolumeCellIndex& cells,
                                                    const std::array<std::int64_t, 3>& shape_zyx) {
  std::array<std::int64_t, 3> low = shape_zyx, high{};
  for (const auto& cell : cells.cell_zyx) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t from = std::int64_t{cell[axis]} * cells.cell_size_zyx[axis];
      low[axis] = std::min(low[axis], from);
      high[axis] =
          std::max(high[axis], std::min(from + cells.cell_size_zyx[axis], shape_zyx[axis]));
    }
  }
  if (cells.cell_zyx.empty()) return {std::array<std::int64_t, 3>{}, shape_zyx};
  return {low, high};
}

TrainingCells<3> volume_cells(const source::Cohort& cohort, std::uint32_t image,
                              const RunConfig& config) {
  const source::ImageRecord& record = cohort.images()[image];
  const auto& shape = record.volume->levels.front().shape_zyx;
  const auto spacing = level_spacing_mm_zyx(record, 0, config);
  source::VolumeCellIndex index = cohort.volume_cells(image, config.data.labels);
  const auto [low, high] = body_box(index, shape);
  TrainingCells<3> result;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    result.image.size[axis] = static_cast<double>(shape[axis]);
    result.image.any_low[axis] = static_cast<double>(low[axis]);
    result.image.any_high[axis] = static_cast<double>(high[axis]);
    if (config.sampling.keep_inside) {
      result.image.margin[axis] = 0.5 * config.volume_patch.size_zyx[axis] *
                                  config.volume_patch.spacing_mm_zyx[axis] / spacing[axis];
    }
  }
  result.image.cell_size = index.cell_size_zyx;
  result.image.cells = std::move(index.cell_zyx);
  result.amounts = {std::move(index.body_voxels), std::move(index.class_voxels)};
  return result;
}

}  // namespace headrace::loader::detail
