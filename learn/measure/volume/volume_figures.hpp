#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/class_sets.hpp"
#include "learn/measure/base/calibration.hpp"
#include "learn/measure/base/confusion.hpp"
#include "learn/measure/base/roc.hpp"
#include "learn/measure/volume/froc.hpp"

namespace headrace::measure {

/// Prediction and truth of one volume, (z, y, x) on one grid, in memory of somebody else's.
struct VolumeView {
  std::array<std::int64_t, 3> shape_zyx{};
  std::array<double, 3> spacing_mm_zyx{1, 1, 1};
  std::span<const std::uint8_t> predicted;  ///< class
  std::span<const std::uint8_t> truth;      ///< class or class set; 255 not annotated
  /// As PredictedVolume::lesion; may be empty without lesion classes.
  std::span<const std::uint16_t> lesion;
};

/// The same with memory of its own. Four bytes a voxel.
struct PredictedVolume {
  std::array<std::int64_t, 3> shape_zyx{};
  std::array<double, 3> spacing_mm_zyx{1, 1, 1};
  std::vector<std::uint8_t> predicted;  ///< class
  std::vector<std::uint8_t> truth;      ///< class or class set; 255 not annotated
  /// Probability of the lesion classes together, in steps of 1/65535; 0 where the label does not
  /// decide whether there is a lesion.
  std::vector<std::uint16_t> lesion;

  operator VolumeView() const { return {shape_zyx, spacing_mm_zyx, predicted, truth, lesion}; }
};

struct VolumeRules {
  std::size_t classes = 2;
  double surface_tolerance_mm = 2;
  std::vector<std::uint8_t> lesion_classes;  ///< label values; empty: no search for lesions
  double lesion_lowest = 0.1;                ///< lowest score of a call
  double lesion_min_mm3 = 0;                 ///< smaller calls are dropped; annotated lesions never
  double lesion_overlap = 0.1;
  std::vector<ClassSet> class_sets;  ///< label values after those of the classes
  std::vector<bool> untold;          ///< by class: the evaluated store has no name for it; empty:
                                     ///< no such class

  /// What a label value tells about lesions.
  std::vector<Membership> lesion_membership() const;
};

/// An annotated lesion (a connected component, 26 neighbours) or a call (lesion_calls.hpp).
struct LesionFinding {
  std::uint64_t voxels = 0;
  double volume_mm3 = 0;
  std::array<double, 3> centre_zyx{};  ///< mean of its voxels' centres; that of voxel 0 is 0.5
  double score = 0;  ///< for a call: the highest probability in it; for a lesion: that of the call
                     ///< on it
  bool matched = false;  ///< the lesion was hit, the call hits
  double overlap = 0;    ///< intersection over union of the two
};

/// The measurements of one volume. Only annotated voxels take part. Voxels whose label is a class
/// set do not take part in the figures of single classes; they do in those of lesions where all
/// classes of the set are lesion classes, or none; in calibration they always do.
struct VolumeFigures {
  /// `untold`: as in VolumeRules.
  explicit VolumeFigures(std::size_t classes, const std::vector<bool>& untold = {})
      : confusion(classes, untold),
        surface_dice(classes),
        hd95_mm(classes),
        hd95_penalised_mm(classes) {}

  Confusion confusion;
  std::uint64_t set_voxels = 0;  ///< whose label is a class set
  /// By class; none for class 0, for untold classes, and where truth and prediction are both empty.
  /// Where one of them is empty, HD95 is none too, and the penalised HD95 is the volume's diagonal,
  /// which no distance in it exceeds.
  std::vector<std::optional<double>> surface_dice, hd95_mm, hd95_penalised_mm;
  std::vector<LesionFinding> lesions;  ///< annotated, by first voxel
  std::vector<LesionFinding> calls;    ///< by falling score
  Calibration calibration;             ///< of the class, in the body
  ScoreCounts lesion_scores;           ///< of voxels in the body; positive: a lesion class is true
  bool annotated() const { return confusion.total() + set_voxels > 0; }
  /// The outcome of a class: "found", "missed", "invented" or, if rightly not predicted, "absent".
  /// None where nothing is annotated, and for an untold class.
  std::optional<std::string> structure(std::size_t c) const;
  ScanCalls scan() const;
};

/// Everything but calibration and lesion_scores, which need all probabilities (volume_meter.hpp).
/// memory  three bits a voxel for lesions and calls; for surfaces 12 bytes a voxel of the box
///         around a class, up to 32 bytes an element
/// errors  malformed (a truth value that is neither class, class set nor 255; names voxel and
///         value)
VolumeFigures measure_volume(const VolumeView& volume, const VolumeRules& rules);

}  // namespace headrace::measure
