#pragma once
#include <cstdint>
#include <vector>

namespace headrace::transform {

/// Shape of the output: every context is height × width pixels at `mpp` × context micrometres a
/// pixel.
struct PatchSpec {
  std::int32_t height = 512, width = 512;
  double mpp = 0.5;
  std::vector<int> context{1};  ///< 1 first; 2 is the concentric patch of half the magnification
};

}  // namespace headrace::transform
