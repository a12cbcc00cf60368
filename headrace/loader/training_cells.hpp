#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "headrace/loader/run_config.hpp"
#include "headrace/source/cohort.hpp"

namespace headrace::loader::detail {

/// What a training plan keeps of an image with D axes, slowest first: (y, x) of slides, (z, y, x)
/// of volumes. Everything in pixels or voxels of level 0.
template <std::size_t D>
struct PlanImage {
  std::array<double, D> size{};
  std::array<double, D> margin{};               ///< how far centres stay from the edge
  std::array<double, D> any_low{}, any_high{};  ///< where samples without an aim may lie
  std::array<std::int32_t, D> cell_size{};
  std::vector<std::array<std::uint32_t, D>> cells;
};

/// How much of an image's cells is tissue (or body), and of each class.
struct CellAmounts {
  std::vector<std::uint32_t> tissue;
  std::vector<std::vector<std::uint32_t>> of_class;  ///< [class][cell]
};

template <std::size_t D>
struct TrainingCells {
  PlanImage<D> image;
  CellAmounts amounts;
};

/// Samples without an aim lie anywhere on the slide.
TrainingCells<2> slide_cells(const source::Cohort& cohort, std::uint32_t image,
                             const RunConfig& config);
/// Samples without an aim lie anywhere in the box around the body; without a body, in the volume.
TrainingCells<3> volume_cells(const source::Cohort& cohort, std::uint32_t image,
                              const RunConfig& config);

/// The box around all cells, cut by the volume: [low, high) in voxels of level 0. The whole volume
/// where there is no cell.
std::array<std::array<std::int64_t, 3>, 2> body_box(const source::VolumeCellIndex& cells,
                                                    const std::array<std::int64_t, 3>& shape_zyx);

}  // namespace headrace::loader::detail
