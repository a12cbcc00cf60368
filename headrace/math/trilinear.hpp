#pragma once
#include <cstdint>

#include "headrace/math/bilinear.hpp"

namespace headrace::math {

/// 16-bit voxels in memory, and the part of them that exists. Axes are z, y, x. A tap coordinate c
/// of an axis is an index: voxel i has its centre at i.
struct VoxelWindow {
  const std::uint8_t* data;               ///< int16, little endian
  std::int32_t slice_stride, row_stride;  ///< bytes; the whole window is under 2 GiB
  std::int32_t slice_step, row_step;  ///< bytes to the second tap; 0 where only one voxel exists
  float first[3], last[3];            ///< tap coordinates of the first and last voxel
  std::int32_t last_cell[3];          ///< largest index of a first tap
};

/// A tap coordinate as the index of the first tap and the fraction of the way to the second.
/// Limited to the voxels that exist; the last voxel is exact: fraction 1 from the one before it.
/// NaN reads as the first.
template <typename F>
struct TapPlace {
  IntOf<F> index;
  F part;
};
template <typename F>
HR_HD TapPlace<F> tap_place(const VoxelWindow& w, int axis, F c) {
  const F limited = clamp_to(c, w.first[axis], w.last[axis]);
  const IntOf<F> cell = to_int(limited);
  const IntOf<F> most = cell - cell + w.last_cell[axis];
  const IntOf<F> index = select(cell < most, cell, most);
  return {index, limited - to_float(index)};
}

/// The two 16-bit numbers of a word.
template <typename F>
HR_HD F low_half(IntOf<F> word) {
  return to_float((word << 16) >> 16);
}
template <typename F>
HR_HD F high_half(IntOf<F> word) {
  return to_float(word >> 16);
}

/// Value between the four rows around a place: along y, then along z. x comes last, so that the
/// result of y and z may be kept for a whole row.
template <typename F>
HR_HD F between_rows(F near_upper, F near_lower, F far_upper, F far_lower, F along_y, F along_z) {
  return lerp(lerp(near_upper, near_lower, along_y), lerp(far_upper, far_lower, along_y), along_z);
}

/// Trilinear value at tap coordinates. One 32-bit gather reads a pair along x.
///
/// range   that of int16
/// error   4 float roundings of the value, in addition to those of the coordinates
/// NaN     never; a NaN coordinate reads as the first voxel
template <typename F>
HR_HD F trilinear(const VoxelWindow& w, F z, F y, F x) {
  const TapPlace<F> pz = tap_place(w, 0, z), py = tap_place(w, 1, y), px = tap_place(w, 2, x);
  const IntOf<F> offset = pz.index * w.slice_stride + py.index * w.row_stride + px.index * 2;
  const IntOf<F> nu = gather32(w.data, offset);
  const IntOf<F> nl = gather32(w.data + w.row_step, offset);
  const IntOf<F> fu = gather32(w.data + w.slice_step, offset);
  const IntOf<F> fl = gather32(w.data + w.slice_step + w.row_step, offset);
  const F left = between_rows(low_half<F>(nu), low_half<F>(nl), low_half<F>(fu), low_half<F>(fl),
                              py.part, pz.part);
  const F right = between_rows(high_half<F>(nu), high_half<F>(nl), high_half<F>(fu),
                               high_half<F>(fl), py.part, pz.part);
  return lerp(left, right, px.part);
}

/// Label bytes in memory.
struct LabelVolume {
  const std::uint8_t* data;
  std::int32_t slice_stride, row_stride;
  std::int32_t first[3], last[3];  ///< voxels that exist
  std::int32_t outside;            ///< value of those that do not
};

/// Nearest voxel along one axis; a tie goes to the higher index. With kEdges `inside` becomes 0
/// where that voxel does not exist; else it is the nearest that does.
template <bool kEdges, typename F>
HR_HD IntOf<F> nearest_index(const LabelVolume& w, int axis, F c, IntOf<F>& inside) {
  const float beyond = kEdges ? 1.0f : 0.0f;
  const F limited = clamp_to(c, to_float(w.first[axis]) - beyond, to_float(w.last[axis]) + beyond);
  const IntOf<F> index = to_int(limited + 1.5f) - 1;  // truncates what is never below 0
  if constexpr (!kEdges) return index;
  const IntOf<F> zero = index - index;
  const IntOf<F> low = zero + w.first[axis], high = zero + w.last[axis];
  inside = inside & select(index < low, zero, zero + 1) & select(index > high, zero, zero + 1);
  return select(index < low, low, select(index > high, high, index));
}

/// Label of the voxel nearest to tap coordinates; with kEdges, `outside` where none is there.
///
/// NaN     reads as outside, or as the first voxel
template <bool kEdges, typename F>
HR_HD IntOf<F> nearest_label(const LabelVolume& w, F z, F y, F x) {
  const IntOf<F> zero = bits_of(z) ^ bits_of(z);
  IntOf<F> inside = zero + 1;
  const IntOf<F> iz = nearest_index<kEdges>(w, 0, z, inside);
  const IntOf<F> iy = nearest_index<kEdges>(w, 1, y, inside);
  const IntOf<F> ix = nearest_index<kEdges>(w, 2, x, inside);
  const IntOf<F> value = gather32(w.data, iz * w.slice_stride + iy * w.row_stride + ix) & 255;
  if constexpr (!kEdges) return value;
  return select(inside != zero, value, zero + w.outside);
}

}  // namespace headrace::math
