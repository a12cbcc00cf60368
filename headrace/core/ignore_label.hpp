#pragma once
#include <cstdint>

namespace headrace {

/// Label value of pixels and voxels that are counted nowhere: not annotated, outside the image, or
/// under no tile.
inline constexpr std::uint8_t kIgnoreLabel = 255;

}  // namespace headrace
