#pragma once
#include "headrace/math/clamp.hpp"

namespace headrace::transform {

/// Sums over one row of a patch: lane l takes values l, l + 8, … in order. The same on a CPU and on
/// a GPU, whatever the instruction set.
struct RowLanes {
  float sum[8], squares[8];  ///< of value - shift
  float low[8], high[8];
};

/// Lanes `lane` and those behind it that F holds. A pack reads up to the next multiple of 8.
template <typename F>
HR_HD void sum_lanes(const float* row, std::int32_t width, float shift, std::int32_t lane,
                     RowLanes& out) {
  using Pack = math::Memory<F>;
  const F nothing = Pack::splat(0.0f), centre = Pack::splat(shift);
  F sum = nothing, squares = nothing, low = centre, high = centre;
  const F index = Pack::iota() + math::to_float(lane);
  for (std::int32_t c = 0; c < width; c += 8) {
    if (math::Lane<F>::kCount == 1 && c + lane >= width) break;
    const auto inside = index < math::to_float(width - c);
    const F v = math::select(inside, Pack::load(row + (c + lane)), centre);
    const F off = v - shift;
    sum = sum + off;
    squares = squares + off * off;
    low = math::min_of(v, low);
    high = math::max_of(v, high);
  }
  Pack::store(out.sum + lane, sum);
  Pack::store(out.squares + lane, squares);
  Pack::store(out.low + lane, low);
  Pack::store(out.high + lane, high);
}

/// Sums over rows, those of the lanes in order and then the rows in order. The shift is the patch's
/// first value, so that little is lost where the mean is far from 0; low and high begin with it.
struct PatchSums {
  double sum, squares;
  float low, high;

  HR_HD void add(const RowLanes& row) {
    double s = 0, q = 0;
    for (int lane = 0; lane < 8; ++lane) {
      s += static_cast<double>(row.sum[lane]);
      q += static_cast<double>(row.squares[lane]);
      low = math::min_of(row.low[lane], low);
      high = math::max_of(row.high[lane], high);
    }
    sum += s;
    squares += q;
  }
};

/// Mean, population standard deviation and range of a patch.
struct PatchStatistics {
  double mean, std;
  float low, high;
};
HR_HD PatchStatistics statistics_of(const PatchSums& sums, float shift, double count) {
  const double off = sums.sum / count;
  const double variance = sums.squares / count - off * off;
  return {static_cast<double>(shift) + off, variance > 0 ? __builtin_sqrt(variance) : 0.0, sums.low,
          sums.high};
}

}  // namespace headrace::transform
