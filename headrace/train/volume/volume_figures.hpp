#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "headrace/train/confusion.hpp"
#include "headrace/train/volume/froc.hpp"

namespace headrace::train {

/// One volume after its tiles were blended, (z, y, x) on the patch's grid. Four bytes a voxel.
struct BlendedVolume {
  std::array<std::int64_t, 3> shape_zyx{};
  std::array<double, 3> spacing_mm_zyx{1, 1, 1};
  std::vector<std::uint8_t> predicted;  ///< class; 255 where no tile lay
  std::vector<std::uint8_t> truth;      ///< class; 255 not annotated
  std::vector<std::uint16_t> lesion;    ///< probability of the lesion classes together, · 65535
};

struct VolumeRules {
  std::size_t classes = 2;
  double surface_tolerance_mm = 2;
  std::vector<std::uint8_t> lesion_classes;  ///< label values; empty: no lesions are looked for
  double lesion_probability = 0.5;           ///< voxels at least this likely make up a call
  double lesion_min_mm3 = 0;                 ///< smaller calls are dropped; annotated lesions never
  double lesion_overlap = 0.1;
};

/// An annotated lesion or a call: a connected component (26 neighbours).
struct LesionFinding {
  std::uint64_t voxels = 0;
  double volume_mm3 = 0;
  std::array<double, 3> centre_zyx{};  ///< mean of its voxels' centres; that of voxel 0 is 0.5
  double score = 0;  ///< of a call: the highest probability in it; of a lesion: of the call on it
  bool matched = false;  ///< the lesion was hit, the call hits
  double overlap = 0;    ///< intersection over union of the two
};

/// What was measured on one volume. Only annotated voxels under a tile take part.
struct VolumeFigures {
  explicit VolumeFigures(std::size_t classes)
      : confusion(classes), surface_dice(classes), hd95_mm(classes) {}

  Confusion confusion;
  /// By class; none for class 0, and where truth and prediction are both empty. HD95 is none as
  /// well where one of them is.
  std::vector<std::optional<double>> surface_dice, hd95_mm;
  std::vector<LesionFinding> lesions;  ///< annotated, by first voxel
  std::vector<LesionFinding> calls;    ///< by falling score
  bool annotated() const { return confusion.total() > 0; }
  ScanCalls scan() const;
};

/// The score of a call is its highest probability, and not the mean: so it does not depend on the
/// probability at which calls are cut off.
/// Errors: malformed (a truth value that is neither a class nor 255; names voxel and value).
VolumeFigures measure_volume(const BlendedVolume& volume, const VolumeRules& rules);

}  // namespace headrace::train
