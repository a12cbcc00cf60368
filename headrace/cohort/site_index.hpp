#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "headrace/cohort/part_bits.hpp"

namespace headrace::cohort {

/// How an image is cut into blocks, and each block into 256 parts, from the first pixel on: (z, y,
/// x) in pixels of level 0; z is 1 on slides. The last blocks may reach beyond the image.
struct PartGrid {
  std::array<std::int32_t, 3> block_zyx{}, part_zyx{};

  std::int32_t parts_along(std::size_t axis) const { return block_zyx[axis] / part_zyx[axis]; }
  /// Whether a block is exactly 256 whole parts.
  bool valid() const {
    std::int64_t parts = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (part_zyx[axis] <= 0 || block_zyx[axis] <= 0 || block_zyx[axis] > (1 << 20) ||
          block_zyx[axis] % part_zyx[axis] != 0)
        return false;
      parts *= parts_along(axis);
    }
    return parts == 256;
  }
  /// A part's number in its block, x fastest, from its place in the block in parts.
  std::uint32_t part(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return static_cast<std::uint32_t>((z * parts_along(1) + y) * parts_along(2) + x);
  }
  /// Its first pixel, relative to that of the block.
  std::array<std::int32_t, 3> first_of(std::uint32_t part) const {
    const auto at = static_cast<std::int32_t>(part);
    const std::int32_t wide = parts_along(2), high = parts_along(1);
    return {at / wide / high * part_zyx[0], at / wide % high * part_zyx[1],
            at % wide * part_zyx[2]};
  }
  bool operator==(const PartGrid&) const = default;
};

/// What one block holds of tissue (the body), or of one region of a class.
struct SiteBlock {
  std::array<std::uint32_t, 3> place_zyx{};  ///< in blocks
  std::uint8_t class_value = 0;              ///< of a label image
  /// In a label image: the connected component of the class, or kWholeClass where components are
  /// not told apart. In volumes: a row of the label image's stored lesions.
  std::uint32_t region = 0;
  std::uint32_t pixels = 0;  ///< of level 0
  PartBits parts;            ///< those that hold at least one of these pixels
};

inline constexpr std::uint32_t kWholeClass = 0xFFFFFFFFu;

/// Where an image has tissue (a body), or its label image each class above 0. The sampler draws
/// positions from it. Blocks of a label image are sorted by class, region and place, others by
/// place.
struct SiteIndex {
  PartGrid grid;
  std::vector<SiteBlock> blocks;
  bool left_out = false;  ///< a label image has classes that are not mapped (ClassMatch)
};

}  // namespace headrace::cohort
