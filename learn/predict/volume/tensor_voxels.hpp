#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

namespace headrace::predict {

/// VoxelScores where the probabilities are, but for the classes, which the canvas chooses: on any
/// of LibTorch's devices the same bytes, and the host waits for nothing.
///
/// in   probabilities (slices, classes, pixels) float32
/// out  (slices, classes [+ kScoreRows], pixels) uint8: the rounded probabilities, and with lesion
///      classes their score (inference/score_rows.hpp)
at::Tensor tensor_voxels(const at::Tensor& probabilities,
                         std::span<const std::uint8_t> lesion_classes);

}  // namespace headrace::predict
