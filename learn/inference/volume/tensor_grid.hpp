#pragma once
#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "learn/inference/volume/original_grid.hpp"

namespace headrace::inference {

/// The grid of a volume's level 0, and voxels of it a voxel of the patch's grid.
struct Level0 {
  OriginalGrid::Axes shape_zyx{};
  std::array<double, 3> step_zyx{1, 1, 1};
};

/// OriginalGrid in LibTorch's tensors, on any of its devices: the same probabilities to the last
/// bit, several slices at once. Each sum and product is an operation of its own; none gives the
/// host a number, and all are taken under deterministic algorithms. One thread.
///
/// memory  tensor_grid_bytes
class TensorGrid {
 public:
  using Axes = OriginalGrid::Axes;
  /// Slices of level 0 that follow one another, the first of which is z: (slices, classes, pixels)
  /// float32. They may be kept.
  using Sink = std::function<void(std::int64_t z, const at::Tensor& probabilities)>;

  /// most_voxels: of the slices that are made together, if one has fewer.
  TensorGrid(const Axes& patch_shape_zyx, const Level0& level0, at::Device device,
             std::int64_t most_voxels, Sink sink);

  /// The next slices of the patch's grid, z from 0 on: (slices, classes, y, x) on the device, as
  /// they are in OriginalGrid::add. They may change afterwards. Errors: internal (more than the
  /// patch's grid has).
  void add(const at::Tensor& probabilities);

 private:
  /// OriginalGrid::Between of an axis, on the device.
  struct Places {
    at::Tensor low, high;  ///< (extent) int64
    at::Tensor part;       ///< (extent) float32
  };
  at::Tensor widened(const at::Tensor& probabilities) const;
  void give(const at::Tensor& held, std::int64_t first_held, std::int64_t end);

  Axes patch_, shape_;
  std::vector<OriginalGrid::Between> along_z_;
  std::array<Places, 3> places_;
  std::int64_t slices_, given_slices_;  ///< that are made, and taken, at once
  Sink sink_;
  std::int64_t given_ = 0, next_ = 0;
  at::Tensor last_;  ///< of the given slices, (1, classes, y, x) of level 0
};

/// Voxels that a slice has while it is taken to level 0, at most.
std::int64_t widest_slice(const OriginalGrid::Axes& patch_shape_zyx, const Level0& level0);

/// Bytes that a TensorGrid takes on its device. widest: of any volume that will come; most_voxels:
/// that of the grid.
double tensor_grid_bytes(std::int64_t classes, std::int64_t widest, std::int64_t most_voxels);

}  // namespace headrace::inference
