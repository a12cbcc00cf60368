#pragma once
#include <array>
#include <cstdint>

namespace headrace::transform {

/// Shape of the output, and the millimetres between its voxels, in (z, y, x).
struct VolumePatchSpec {
  std::array<std::int32_t, 3> size_zyx{96, 96, 96};
  std::array<double, 3> spacing_mm_zyx{1, 1, 1};
};

}  // namespace headrace::transform
