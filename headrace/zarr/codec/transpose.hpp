#pragma once
#include <array>

#include "headrace/zarr/codec/registry.hpp"

namespace headrace::zarr {

/// Codec "transpose": the axes of the array in another order. Nothing is moved: boxes, shapes and
/// strides are permuted, and the elements stay in place.
///
/// specification  https://zarr-specs.readthedocs.io/en/latest/v3/codecs/transpose/index.html
/// example        {"name": "transpose", "configuration": {"order": [1, 2, 0]}}
class AxisOrder {
 public:
  /// The order that changes nothing.
  explicit AxisOrder(int rank);
  /// Reads "order". Errors: malformed (not a permutation of the axes).
  static AxisOrder parse(CodecConfig& config, int rank);

  int rank() const noexcept { return rank_; }
  bool is_identity() const noexcept;
  /// Values by array axis, put into stored order.
  Index apply(const Index& by_array_axis) const noexcept;
  /// First this, then `next`.
  AxisOrder then(const AxisOrder& next) const noexcept;

 private:
  int rank_;
  std::array<int, kMaxRank> order_{};
};

}  // namespace headrace::zarr
