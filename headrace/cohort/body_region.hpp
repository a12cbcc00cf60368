#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "headrace/cohort/site_index.hpp"

namespace headrace::cohort {

/// Where predictions of a volume are taken at their word: the parts of the sampler's index (PartGrid)
/// that hold body, and the parts beside them (26 neighbours), so that what a reader draws to just
/// beyond the body mask is inside. Where no body was found, everywhere. One thread.
///
/// memory  a byte a part (16 voxels), and a slice
class BodyRegion {
 public:
  /// body: Cohort::tissue_sites of a volume of that shape.
  BodyRegion(const SiteIndex& body, const std::array<std::int64_t, 3>& shape_zyx);

  bool everywhere() const noexcept { return parts_.empty(); }
  /// Whether all parts that the block has, of an index on the same grid, are inside.
  bool holds(const SiteBlock& block) const;
  /// (y, x) of slice z of level 0, not 0 inside; valid until the next call; empty: everywhere.
  std::span<const std::uint8_t> slice(std::int64_t z);

 private:
  std::size_t at(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return static_cast<std::size_t>((z * count_[1] + y) * count_[2] + x);
  }

  PartGrid grid_;
  std::array<std::int64_t, 3> shape_{}, count_{};  ///< voxels; parts
  std::vector<std::uint8_t> parts_;
  std::int64_t shown_ = -1;  ///< the layer of parts that slice_ has
  std::vector<std::uint8_t> slice_;
};

}  // namespace headrace::cohort
