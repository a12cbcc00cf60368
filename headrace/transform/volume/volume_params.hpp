#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "headrace/core/geometry.hpp"
#include "headrace/transform/drawn_entry.hpp"
#include "headrace/transform/volume/intensity_program.hpp"
#include "headrace/transform/volume/volume_graph.hpp"

namespace headrace::transform {

/// Control values of one elastic deformation: (grid + 3)³ for each of z, y, x, row-major,
/// millimetres. Cell (k, j, i) of the patch takes planes k … k + 3, rows j … j + 3, columns
/// i … i + 3. No grid: no deformation.
struct VolumeElasticField {
  int grid = 0;
  std::array<std::vector<double>, 3> mm;
};

/// One pass over the patch: stages on each voxel; or a Gaussian; or a reduction and enlargement.
struct VolumePass {
  enum class Kind { stages, blur, low_resolution };
  Kind kind = Kind::stages;
  VolumeStages stages;
  double sigma = 0;                     ///< blur: output voxels
  std::array<std::int32_t, 3> small{};  ///< low_resolution: the reduced size
  bool statistics = false;              ///< a later pass needs those of this one's output
};

struct VolumeParams {
  /// Offset from the patch's centre in output voxels (z, y, x) → offset from the sample's centre in
  /// output voxels, elastic part aside. The turn itself is made in millimetres.
  Affine3 inverse;
  double scale = 1;  ///< enlargement that is part of it
  VolumeElasticField elastic;
  float outside = -1024;           ///< the stored value where the level has no voxel at all
  std::vector<VolumePass> passes;  ///< the first is the gather's
  std::vector<DrawnEntry> drawn;
};

}  // namespace headrace::transform
