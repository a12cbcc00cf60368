#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

namespace headrace::inference {

/// What the host computes of single pixels, by LibTorch's operations on any of its devices: the
/// same values to the last bit. None gives the host a number, and all are taken under deterministic
/// algorithms.

/// The class of the highest probability, the lower of equals: (parts, classes, pixels) float32 to
/// (parts, pixels) uint8. By comparisons: the tie of an argmax is not defined.
at::Tensor classes_of(const at::Tensor& probabilities);

/// Those of some classes together, added up in their order from 0 on: (parts, pixels) float32.
at::Tensor sum_of(const at::Tensor& probabilities, std::span<const std::uint8_t> classes);

/// std::lround of what is not negative: LibTorch rounds halves to even.
at::Tensor rounded(const at::Tensor& value);

/// Probabilities in whole steps (int32), rounded to the nearest; values outside 0..1 become 0 or 1,
/// and NaN becomes 0. With measure::kScoreSteps they are measure::score_of. probability: float32.
at::Tensor in_steps(const at::Tensor& probability, std::int64_t steps);

/// Values of 16 bits as two rows of bytes (score_rows.hpp): (parts, pixels) int32 to
/// (parts, 2, pixels) uint8.
at::Tensor two_rows(const at::Tensor& scores);

}  // namespace headrace::inference
