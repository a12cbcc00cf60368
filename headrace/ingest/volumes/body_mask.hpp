#pragma once
#include <array>

#include "headrace/ingest/volumes/bit_volume.hpp"

namespace headrace::ingest {

inline constexpr std::int16_t kBodyThresholdHu = -300;  ///< between air and fat
inline constexpr double kTableThicknessMm = 8;          ///< walls of a table are thinner

/// The patient's body from voxels above kBodyThresholdHu: what is thinner than kTableThicknessMm in
/// the slice's plane (table, blankets, tubes) is cut off by erosion, the largest component stays (6
/// neighbours), grows back into what it was eroded from, and holes are filled slice by slice
/// (lungs, bowel gas). Empty when nothing is above the threshold.
///
/// in      above  voxels above the threshold; its memory is used again
/// source  the usual order of steps (for example MONAI's and nnU-Net users' body masks); no formula
BitVolume body_mask(BitVolume above, const std::array<double, 3>& spacing_mm_zyx);

/// The steps of body_mask over all voxels; components are the host's whoever makes these.
class BodyPasses {
 public:
  virtual ~BodyPasses() = default;
  /// What is above the threshold, as erode_slices makes it smaller.
  virtual BitVolume eroded(int ry, int rx) = 0;
  /// A part of that as dilate_slices makes it larger, within what is above the threshold.
  virtual BitVolume grown(const BitVolume& core, int ry, int rx) = 0;
};
BitVolume body_mask(BodyPasses& passes, const std::array<double, 3>& spacing_mm_zyx);

}  // namespace headrace::ingest
