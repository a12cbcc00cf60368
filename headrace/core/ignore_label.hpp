#pragma once
#include <cstdint>

namespace headrace {

/// Label value of pixels and voxels that nothing counts: not annotated, outside of the image, or
/// under no tile.
inline constexpr std::uint8_t kIgnoreLabel = 255;

}  // namespace headrace
