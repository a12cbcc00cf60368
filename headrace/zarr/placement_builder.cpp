#include "headrace/zarr/placement_builder.hpp"

#include <algorithm>

#include "headrace/core/error.hpp"

namespace headrace::zarr {
namespace {

struct Axis {
  std::int64_t count, source, destination;  // steps in elements and bytes
};

constexpr std::int64_t kLongestRow = std::int64_t{1} << 27;

// Axes of the box without those of one element, neighbours joined where both sides allow it.
std::vector<Axis> joined_axes(const Index& chunk_shape, const Box& box, const Index& steps) {
  const Index source = contiguous_strides(box.rank, chunk_shape, 1);
  std::vector<Axis> axes;
  for (int axis = 0; axis < box.rank; ++axis) {
    const Axis next{box.shape[axis], source[axis], steps[axis]};
    if (next.count == 1) continue;
    // Rows stay short enough for 32-bit counts, also in bytes.
    if (!axes.empty() && axes.back().count * next.count <= kLongestRow &&
        axes.back().source == next.count * next.source &&
        axes.back().destination == next.count * next.destination) {
      axes.back() = {axes.back().count * next.count, next.source, next.destination};
    } else {
      axes.push_back(next);
    }
  }
  return axes;
}

// Elements of several bytes that are contiguous on both sides are treated as bytes.
void as_bytes(Placement& p) {
  constexpr int kInner = Placement::kAxes - 1;
  if (p.kind != Placement::Kind::copy || p.item == 1 || p.source_step[kInner] != 1 ||
      p.destination_step[kInner] != p.item) {
    return;
  }
  p.first *= p.item;
  p.shape[kInner] *= p.item;
  for (int axis = 0; axis < kInner; ++axis) p.source_step[axis] *= p.item;
  p.destination_step[kInner] = 1;
  p.item = 1;
}

void count_units(Placement& p) {
  constexpr int kInner = Placement::kAxes - 1;
  const auto row = static_cast<std::uint32_t>(p.shape[kInner]);
  // Whole groups of the chunk are groups of a block where blocks have whole groups too.
  p.groups = p.kind == Placement::Kind::bits && p.item == 2 && p.source_step[kInner] == 1 &&
             p.block_bytes % 16 == 0 && p.chunk_bytes % 16 == 0;
  p.units_per_row = (row + Placement::kRun - 1) / Placement::kRun;
  if (p.groups != 0) ++p.units_per_row;  // a row that begins inside a group
  const std::int64_t units = std::int64_t{p.units_per_row} * p.shape[0] * p.shape[1] * p.shape[2];
  if (units > INT32_MAX) fail(ErrorCode::internal, "a placement of {} units", units);
}

}  // namespace

void append_placements(const Placement& like, const Index& chunk_shape, const Box& box,
                       std::int64_t destination, const Index& destination_steps,
                       std::vector<Placement>& out) {
  const std::vector<Axis> axes = joined_axes(chunk_shape, box, destination_steps);
  const Index source = contiguous_strides(box.rank, chunk_shape, 1);
  std::int64_t first = 0;
  for (int axis = 0; axis < box.rank; ++axis) first += box.origin[axis] * source[axis];
  const auto count = static_cast<int>(axes.size());
  const int outer = std::max(count - Placement::kAxes, 0);
  Index at{};
  while (true) {
    Placement p = like;
    p.destination = destination;
    std::int64_t element = first;
    for (int axis = 0; axis < outer; ++axis) {
      element += at[axis] * axes[axis].source;
      p.destination += at[axis] * axes[axis].destination;
    }
    p.first = static_cast<std::uint32_t>(element);
    for (int axis = outer; axis < count; ++axis) {
      const int to = Placement::kAxes - count + axis;
      if (axes[axis].count > INT32_MAX) {
        fail(ErrorCode::internal, "a placement of {} elements in a row", axes[axis].count);
      }
      p.shape[to] = static_cast<std::int32_t>(axes[axis].count);
      p.source_step[to] = static_cast<std::int32_t>(axes[axis].source);
      p.destination_step[to] = axes[axis].destination;
    }
    if (count == 0) {
      p.source_step[Placement::kAxes - 1] = 1;
      p.destination_step[Placement::kAxes - 1] = p.item;
    }
    as_bytes(p);
    count_units(p);
    out.push_back(p);
    int axis = outer - 1;
    for (; axis >= 0 && ++at[axis] == axes[axis].count; --axis) at[axis] = 0;
    if (axis < 0) break;
  }
}

Placement copy_of_bytes(std::uint64_t source, std::uint64_t destination, std::uint64_t size) {
  Placement p;
  p.packed = 1;
  p.source = static_cast<std::int64_t>(source);
  p.destination = static_cast<std::int64_t>(destination);
  p.chunk_bytes = static_cast<std::uint32_t>(size);
  p.shape[Placement::kAxes - 1] = static_cast<std::int32_t>(size);
  p.source_step[Placement::kAxes - 1] = p.destination_step[Placement::kAxes - 1] = 1;
  count_units(p);
  return p;
}

}  // namespace headrace::zarr
