#pragma once
#include <cstdint>

#include "headrace/math/clamp.hpp"

namespace headrace::transform {

/// Sums over one row of a patch: lane l takes values l, l + 8, … in order. The same on a CPU and on
/// a GPU, whatever the instruction set.
struct RowLanes {
  float sum[8], squares[8];  ///< of value - shift
  float low[8], high[8];
};

/// Lane `lane` and those after it that F holds. A pack reads up to the next multiple of 8.
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

/// Sums of one row: its lanes in order.
struct RowSums {
  double sum, squares;
  float low, high;
};
HR_HD RowSums sums_of(const RowLanes& row) {
  RowSums out{0, 0, row.low[0], row.high[0]};
  for (int lane = 0; lane < 8; ++lane) {
    out.sum += static_cast<double>(row.sum[lane]);
    out.squares += static_cast<double>(row.squares[lane]);
    out.low = math::min_of(row.low[lane], out.low);
    out.high = math::max_of(row.high[lane], out.high);
  }
  return out;
}

/// Sums of several rows, or slices, in order.
HR_HD RowSums sums_of(const RowSums* parts, std::int32_t count) {
  RowSums out{0, 0, parts[0].low, parts[0].high};
  for (std::int32_t i = 0; i < count; ++i) {
    out.sum += parts[i].sum;
    out.squares += parts[i].squares;
    out.low = math::min_of(parts[i].low, out.low);
    out.high = math::max_of(parts[i].high, out.high);
  }
  return out;
}

/// Mean, population standard deviation and range of a patch.
struct PatchStatistics {
  double mean, std;
  float low, high;
};
/// From the sums of `values` values: slices were summed in order, each from its rows in order.
/// `shift`: the patch's first value, which was subtracted from each value, so that little precision
/// is lost where the mean is far from 0.
HR_HD PatchStatistics statistics_of(const RowSums& sums, double values, float shift) {
  const double off = sums.sum / values;
  const double variance = sums.squares / values - off * off;
  return {static_cast<double>(shift) + off, variance > 0 ? __builtin_sqrt(variance) : 0.0, sums.low,
          sums.high};
}

}  // namespace headrace::transform
