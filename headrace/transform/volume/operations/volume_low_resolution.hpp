#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "headrace/core/fields.hpp"
#include "headrace/transform/volume/operations/value_use.hpp"

namespace headrace::transform {

struct VolumeDraw;
struct VolumePatchSpec;
struct LowResolutionKernel;

/// Nearest reduction to this fraction of the edge, linear enlargement back.
struct LowResolutionSpec {
  static constexpr std::string_view kName = "low_resolution";
  static constexpr bool kOnce = false;

  std::array<double, 2> scale{1, 1};
  double probability = 1;
  std::string channel = {};  ///< the one it is for; empty: every channel

  ValueUse value_use() const { return {}; }
  Fields fields();
  void draw(VolumeDraw& draw) const;
};

/// `small`: the reduced size.
LowResolutionKernel low_resolution_kernel(const std::array<std::int32_t, 3>& small,
                                          const VolumePatchSpec& patch, float* dst);

}  // namespace headrace::transform
