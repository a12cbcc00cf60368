#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "learn/train/evaluate/evaluate.hpp"

namespace headrace::train {

/// A patch (z, y, x) of a volume to be shown.
struct ShownPatch {
  std::array<std::int64_t, 3> shape_zyx{};
  std::array<double, 3> spacing_mm_zyx{1, 1, 1};
  const float* values = nullptr;        ///< the model's input
  const std::uint8_t* truth = nullptr;  ///< label values
  std::vector<std::uint8_t> predicted;  ///< classes
  std::array<bool, 256> shown{};        ///< label values through which planes are laid
};

/// The axial, coronal and sagittal plane with the most voxels of `shown`, with annotation and
/// prediction, and their names. Grey is between the patch's percentiles 0.5 and 99.5, so it does
/// not depend on how the run normalises.
std::vector<MontagePatch::Picture> plane_pictures(const ShownPatch& patch);

}  // namespace headrace::train
