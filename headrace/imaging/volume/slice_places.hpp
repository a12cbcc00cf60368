#pragma once
#include <optional>
#include <vector>

#include "headrace/imaging/volume/volume_grid.hpp"

namespace headrace::imaging {

/// Where the slices of the source lie, against those of a grid that was made even.
struct SlicePlaces {
  int axis = 2;  ///< of the grid, across the slices: x, y, z
  /// For each slice of the grid how many mm further along the axis the slice of the source that it
  /// stands for lies; nothing where the source has none, so that it was interpolated. Empty: each
  /// slice of the source lies at its place.
  std::vector<std::optional<double>> offsets_mm;

  bool even() const { return offsets_mm.empty(); }
  /// Slices that no slice of the source is at.
  std::size_t filled() const;
};

/// The same for a grid whose axes lie on those of this one as `map` says.
SlicePlaces reordered(const SlicePlaces& source, const AxisMap& map);

}  // namespace headrace::imaging
