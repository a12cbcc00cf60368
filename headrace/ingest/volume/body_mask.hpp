#pragma once
#include <array>
#include <cstdint>

#include "headrace/pixels/volume/bit_morphology.hpp"

namespace headrace::ingest {

inline constexpr std::int16_t kBodyThresholdHu = -300;  ///< between air and fat
inline constexpr double kTableThicknessMm = 8;          ///< walls of a table are thinner

/// The patient's body from voxels above kBodyThresholdHu: erosion removes what is thinner than
/// kTableThicknessMm in the slice's plane (table, blankets, tubes), the largest component (6
/// neighbours) stays and grows back into the eroded voxels, and holes (lungs, bowel gas) are filled
/// slice by slice. Empty when nothing is above the threshold.
///
/// in      above  voxels above the threshold; its memory is reused
/// source  the usual order of steps (for example MONAI's and nnU-Net users' body masks); no formula
pixels::BitVolume body_mask(pixels::BitVolume above, const std::array<double, 3>& spacing_mm_zyx);

/// The steps of body_mask over all voxels; the host finds components in any case.
class BodyPasses {
 public:
  virtual ~BodyPasses() = default;
  /// The voxels above the threshold, eroded as by erode_slices.
  virtual pixels::BitVolume eroded(int ry, int rx) = 0;
  /// A part of them, dilated as by dilate_slices, limited to voxels above the threshold.
  virtual pixels::BitVolume grown(const pixels::BitVolume& core, int ry, int rx) = 0;
};
pixels::BitVolume body_mask(BodyPasses& passes, const std::array<double, 3>& spacing_mm_zyx);

}  // namespace headrace::ingest
