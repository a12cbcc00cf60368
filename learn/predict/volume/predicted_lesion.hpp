#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/imaging/volume/volume_grid.hpp"
#include "learn/measure/volume/lesion_calls.hpp"
#include "learn/predict/volume/axial_diameter.hpp"
#include "learn/predict/volume/body_profile.hpp"
#include "learn/predict/volume/place_in_words.hpp"
#include "learn/predict/volume/voxel_extent.hpp"

namespace headrace::predict {

/// A call (lesion_calls.hpp) as it is reported.
struct PredictedLesion {
  double score = 0;  ///< highest probability of the lesion classes together, in steps of 1/65535
  std::optional<double> probability;  ///< that it is a hit, by the run's validation
  /// The lesion class of most of its voxels in the class map, the lower of equal ones. None where
  /// no voxel has one: every voxel is background or an organ there, though a lesion is likely
  /// enough for a call.
  std::optional<std::uint8_t> class_value;
  VoxelExtent extent;
  AxialDiameter diameter;
  PlaceInBody place;              ///< of its centre
  std::vector<pixels::Run> runs;  ///< its voxels, in (z, y, x) order
};

/// A predicted volume, as far as lesions need it.
struct PredictedMap {
  imaging::VolumeGrid grid;
  std::vector<std::uint8_t> classes;  ///< (z, y, x)
  BodyProfile body;
};

/// `probability` is left out. `lesion_classes`: class values, rising.
PredictedLesion describe_lesion(const measure::LocatedCall& call, const PredictedMap& map,
                                std::span<const std::uint8_t> lesion_classes);

}  // namespace headrace::predict
