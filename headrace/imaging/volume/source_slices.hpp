#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "headrace/imaging/volume/slice_places.hpp"
#include "headrace/imaging/volume/volume_grid.hpp"

namespace headrace::imaging {

/// The slices of a source on which labels were drawn, as indices along an axis of the grid that its
/// image was brought to. Labels go with their slice wherever that was moved.
class SourceSlices {
 public:
  SourceSlices(const VolumeGrid& grid, int axis, const SlicePlaces& places);

  /// The slice of the grid whose source lies nearest.
  std::int64_t nearest(double index) const;
  /// Where the source of a slice lies; nothing where there is none.
  const std::optional<double>& place(std::int64_t slice) const {
    return places_[static_cast<std::size_t>(slice)];
  }
  std::int64_t count() const { return static_cast<std::int64_t>(places_.size()); }

 private:
  std::vector<std::optional<double>> places_;
};

}  // namespace headrace::imaging
