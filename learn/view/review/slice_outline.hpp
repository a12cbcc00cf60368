#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/pixels/polygon_raster.hpp"

namespace headrace::view {

/// What a reader drew on an axial slice of a volume, as the page sends it and as it is stored:
/// {"class", "rings": [[[y, x], …], …], "reviewer", "time"}.
///
/// Positions are voxels of the store's grid (LPS), as on slides: the centre of the first voxel is
/// (0.5, 0.5). The area is that of the even-odd rule over all rings, so a ring within another is a
/// hole. An outline lies over the findings and over the outlines before it.
struct SliceOutline {
  std::string class_name;  ///< of the run; that of value 0 erases
  std::vector<pixels::Ring> rings;
  std::string reviewer, time;

  Json to_json() const;
  /// classes: those that it may name. Errors: usage (what the page sent does not fit).
  static SliceOutline from_json(const Json& json, const std::vector<std::string>& classes);
  /// Whether both mark the same voxels as the same class, whoever drew them.
  bool same_area(const SliceOutline& other) const;
};

/// In the order in which they are painted, by the slice's index in the store's grid, from 0.
using SliceOutlines = std::map<std::int64_t, std::vector<SliceOutline>>;

/// Of one slice: [outline, …].
Json json_of_outlines(const std::vector<SliceOutline>& outlines);
/// {"12": [outline, …]}, slices without outlines left out.
Json json_of_slices(const SliceOutlines& slices);
/// Errors: malformed (a key that is no slice), those of SliceOutline::from_json.
SliceOutlines slices_of_json(const Json& json, const std::vector<std::string>& classes);
/// Of one slice: [outline, …]. Errors: usage (no list), those of SliceOutline::from_json.
std::vector<SliceOutline> outlines_of_json(const Json& json,
                                           const std::vector<std::string>& classes);

}  // namespace headrace::view
