#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace headrace::model {

/// LibTorch's channels_last for (n, c, y, x), channels_last_3d for (n, c, z, y, x).
at::MemoryFormat channels_last_of(const at::Tensor& x);

/// (n, c, …) as (n, pixels, c), in place where its channels are innermost, and back to the axes of
/// `like`, channels innermost.
at::Tensor rows_of(const at::Tensor& x);
at::Tensor from_rows(const at::Tensor& rows, const at::Tensor& like);

/// Group normalisation, then a leaky ReLU of slope `slope` (0: ReLU; nothing: none), channels last.
/// LibTorch's group_norm makes its input contiguous on a GPU, channels before pixels, so that cuDNN,
/// whose fast kernels read channels innermost, would copy every activation twice. The same
/// formulas, in other operations: results differ in the last bits.
///
/// in   x              (n, c, …) two or three more axes; any layout; float32, bfloat16 or float64
///      groups         of which c is a multiple: of neighbouring channels
///      scale, offset  (c)
/// out  as x, of its type, channels innermost. Means, variances and the sums of the backward pass are
///      float32 (float64 for float64)
/// source  Wu and He, Group normalization, ECCV 2018; epsilon 1e-5
/// The backward pass has no atomics: deterministic on CPU and CUDA. No second derivative.
at::Tensor norm_channels_last(const at::Tensor& x, std::int64_t groups, const at::Tensor& scale,
                              const at::Tensor& offset, std::optional<double> slope = {});

}  // namespace headrace::model
