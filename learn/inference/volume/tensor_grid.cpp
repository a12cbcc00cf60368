#include "learn/inference/volume/tensor_grid.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "headrace/core/error.hpp"
#include "learn/model/host_copies.hpp"

namespace headrace::inference {
namespace {

/// Tensors of all classes that are held at once: the slices given, their neighbours below and above
/// and what becomes of them, and the slice kept from before.
constexpr double kHeld = 5;

/// a + part · (b - a), in OriginalGrid's three operations.
at::Tensor between(const at::Tensor& a, at::Tensor b, const at::Tensor& part) {
  return b.sub_(a).mul_(part).add_(a);
}

}  // namespace

std::int64_t widest_slice(const OriginalGrid::Axes& patch_shape_zyx, const Level0& level0) {
  const std::int64_t rows = std::max(patch_shape_zyx[1], level0.shape_zyx[1]);
  return rows * std::max(patch_shape_zyx[2], level0.shape_zyx[2]);
}

double tensor_grid_bytes(std::int64_t classes, std::int64_t widest, std::int64_t most_voxels) {
  return kHeld * sizeof(float) * static_cast<double>(classes) *
         static_cast<double>(std::max(widest, most_voxels));
}

TensorGrid::TensorGrid(const Axes& patch_shape_zyx, const Level0& level0, at::Device device,
                       std::int64_t most_voxels, Sink sink)
    : patch_(patch_shape_zyx), shape_(level0.shape_zyx), sink_(std::move(sink)) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto along = OriginalGrid::along(patch_[axis], shape_[axis], level0.step_zyx[axis]);
    const auto count = static_cast<std::int64_t>(along.size());
    const at::Tensor ends = model::host_memory({2, count}, at::kLong, device),
                     parts = model::host_memory({count}, at::kFloat, device);
    auto* low = ends.mutable_data_ptr<std::int64_t>();
    auto* part = parts.mutable_data_ptr<float>();
    for (const OriginalGrid::Between& at : along) {
      low[count] = at.high;
      *low++ = at.low;
      *part++ = at.part;
    }
    const at::Tensor there = model::put_there(ends, device);
    places_[axis] = {there.select(0, 0), there.select(0, 1), model::put_there(parts, device)};
    if (axis == 0) along_z_ = along;
  }
  slices_ =
      std::max<std::int64_t>(1, most_voxels / std::max<std::int64_t>(1, shape_[1] * shape_[2]));
  given_slices_ = std::max<std::int64_t>(
      1, most_voxels / std::max<std::int64_t>(1, widest_slice(patch_shape_zyx, level0)));
}

/// Slices of the patch's grid onto rows and columns of level 0.
at::Tensor TensorGrid::widened(const at::Tensor& probabilities) const {
  at::Tensor own = probabilities.clone(at::MemoryFormat::Contiguous);
  at::Tensor background = own.select(1, 0);
  at::Tensor seen = background.ne(0);
  for (std::int64_t c = 1; c < own.size(1); ++c) seen.logical_or_(own.select(1, c).ne(0));
  background.masked_fill_(seen.logical_not(), 1);
  for (const std::size_t axis : {std::size_t{2}, std::size_t{1}}) {
    const auto& [low, high, part] = places_[axis];
    const auto dim = static_cast<std::int64_t>(axis) + 1;
    own = between(own.index_select(dim, low), own.index_select(dim, high),
                  axis == 1 ? part.unsqueeze(1) : part);
  }
  return own;
}

void TensorGrid::add(const at::Tensor& probabilities) {
  const std::int64_t count = probabilities.size(0);
  if (given_ + count > patch_[0])
    fail(ErrorCode::internal, "A volume of {} slices was given more.", patch_[0]);
  for (std::int64_t begin = 0; begin < count;) {
    const std::int64_t some = std::min(given_slices_, count - begin);
    at::Tensor held = widened(probabilities.narrow(0, begin, some));
    std::int64_t first_held = given_;
    if (last_.defined()) {
      held = at::cat({last_, held});
      --first_held;
    }
    given_ += some;
    begin += some;
    const auto there = [&](std::int64_t z) {
      return along_z_[static_cast<std::size_t>(z)].high < given_;
    };
    while (next_ < shape_[0] && there(next_)) {
      std::int64_t end = next_ + 1;  // places grow with z
      while (end < std::min(next_ + slices_, shape_[0]) && there(end)) ++end;
      give(held, first_held, end);
    }
    last_ = held.narrow(0, held.size(0) - 1, 1).clone();
  }
}

/// Slices [next_, end) of level 0, between those that are held.
void TensorGrid::give(const at::Tensor& held, std::int64_t first_held, std::int64_t end) {
  const std::int64_t count = end - next_;
  const auto& [low, high, parts] = places_[0];
  at::Tensor out = held.index_select(0, low.narrow(0, next_, count).sub(first_held));
  const auto begin = along_z_.begin() + next_;
  // Where the part is 0, a + 0 · (a - a) is a slice as OriginalGrid takes it: none of its values is
  // -0.
  if (std::any_of(begin, begin + count, [](const auto& at) { return at.part != 0; })) {
    out = between(out, held.index_select(0, high.narrow(0, next_, count).sub(first_held)),
                  parts.narrow(0, next_, count).view({count, 1, 1, 1}));
  }
  sink_(std::exchange(next_, end), out.flatten(2));
}

}  // namespace headrace::inference
