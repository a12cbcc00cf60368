#include "headrace/zarr/codec/transpose.hpp"

#include <fmt/format.h>

namespace headrace::zarr {

AxisOrder::AxisOrder(int rank) : rank_(rank) {
  for (int axis = 0; axis < rank; ++axis) order_[axis] = axis;
}

AxisOrder AxisOrder::parse(CodecConfig& config, int rank) {
  const std::vector<std::int64_t> order = config.integers("order");
  config.finish();
  AxisOrder out(rank);
  unsigned seen = 0;
  if (order.size() == static_cast<std::size_t>(rank)) {
    for (int i = 0; i < rank; ++i) {
      if (order[i] < 0 || order[i] >= rank) break;
      out.order_[i] = static_cast<int>(order[i]);
      seen |= 1U << order[i];
    }
  }
  if (order.size() != static_cast<std::size_t>(rank) || seen != (1U << rank) - 1) {
    config.reject("order", fmt::format("expected each axis from 0 to {} once", rank - 1));
  }
  return out;
}

bool AxisOrder::is_identity() const noexcept {
  for (int i = 0; i < rank_; ++i) {
    if (order_[i] != i) return false;
  }
  return true;
}

Index AxisOrder::apply(const Index& by_array_axis) const noexcept {
  Index out{};
  for (int i = 0; i < rank_; ++i) out[i] = by_array_axis[order_[i]];
  return out;
}

AxisOrder AxisOrder::then(const AxisOrder& next) const noexcept {
  AxisOrder out(rank_);
  for (int i = 0; i < rank_; ++i) out.order_[i] = order_[next.order_[i]];
  return out;
}

}  // namespace headrace::zarr
