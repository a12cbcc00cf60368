#pragma once
#include <cstdint>

#include "headrace/math/hd.hpp"

/// Where taps lie: what the kernels of patches in two and in three dimensions share.
namespace headrace::transform {

/// Affine part of the tap coordinate along a row.
template <typename F>
HR_HD F along_row(float per_column, float row_part, F column) {
  return column * per_column + row_part;
}

/// Index of the pixel that replaces `i` outside [0, count): mirrored about the outermost centres.
HR_HD std::int32_t mirrored(std::int32_t i, std::int32_t count) {
  if (count == 1) return 0;
  const std::int32_t period = 2 * (count - 1);
  std::int32_t j = i % period;
  if (j < 0) j += period;
  return j < count ? j : period - j;
}

}  // namespace headrace::transform
