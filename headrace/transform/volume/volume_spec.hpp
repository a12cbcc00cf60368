#pragma once
#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "headrace/core/intensity_unit.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/yaml.hpp"

namespace headrace::transform {

// One struct for each entry of `transforms:` of a run on volumes; a range [low, high] is drawn
// uniformly, or, with bg: true, as batchgenerators' BGContrast does (half of the draws below 1).
// Geometry is drawn once for all channels of a volume, all else for each channel on its own.

struct VolumeAffineSpec {
  std::array<double, 2> rotate_deg{0, 0};  ///< about each of the axes z, y and x
  bool in_plane = false;                   ///< rotation about z alone
  std::array<double, 2> scale{1, 1}, shear_deg{0, 0};
  double translate = 0;  ///< each axis uniform in ± this fraction of the patch's edge
  bool flip = false;     ///< each axis with probability 1/2
  double rotate_probability = 1, scale_probability = 1;
};
/// Displacement by a uniform cubic B-spline over grid³ control cells; control values uniform in ±
/// magnitude_mm.
struct VolumeElasticSpec {
  int grid = 6;
  double magnitude_mm = 5, probability = 1;
};
/// Maps HU [low, high] to 0..1; values beyond are clipped.
struct WindowHuSpec {
  double low = usual_window(IntensityUnit::hu)[0], high = usual_window(IntensityUnit::hu)[1];
  std::string channel = {};  ///< the one it is for; empty: every channel in HU
};
/// Maps SUV [low, high] to 0..1; values beyond are clipped.
struct WindowSuvSpec {
  double low = usual_window(IntensityUnit::suv)[0], high = usual_window(IntensityUnit::suv)[1];
  std::string channel = {};  ///< the one it is for; empty: every channel in SUV
};
/// Clips to percentiles 0.5 and 99.5 of the patient's body, or of the training set's foreground.
struct ClipPercentilesSpec {
  std::string of = "patient";  ///< patient | foreground
  std::string channel = {};    ///< the one it is for; empty: every channel
};
/// (value - mean) / std: of the patient's body, of the foreground (nnU-Net's CT scheme: clips to
/// its percentiles first), of given numbers, or nothing.
struct VolumeNormalizeSpec {
  std::string method = "none";  ///< none | zscore | foreground | fixed
  double mean = 0, std = 1;     ///< of method fixed
  std::string channel = {};     ///< the one it is for; empty: every channel
};
struct VolumeBrightnessSpec {
  std::array<double, 2> factor{1, 1};
  double probability = 1;
  bool bg = false;
  std::string channel = {};  ///< the one it is for; empty: every channel
};
/// About the patch's mean; preserve_range clips to the range before it (nnU-Net).
struct VolumeContrastSpec {
  std::array<double, 2> factor{1, 1};
  double probability = 1;
  bool preserve_range = true, bg = false;
  std::string channel = {};  ///< the one it is for; empty: every channel
};
/// value^gamma on the patch's range; invert: of the negated image; retain_stats: mean and std of
/// the patch are put back (nnU-Net).
struct VolumeGammaSpec {
  std::array<double, 2> gamma{1, 1};
  double probability = 1;
  bool invert = false, retain_stats = false, bg = false;
  std::string channel = {};  ///< the one it is for; empty: every channel
};
/// sigma, or with variance: true the variance, uniform in the range; in units of the values there.
struct VolumeNoiseSpec {
  std::array<double, 2> sigma{0, 0};
  double probability = 1;
  bool variance = false;
  std::string channel = {};  ///< the one it is for; empty: every channel
};
/// sigma in output voxels.
struct VolumeBlurSpec {
  std::array<double, 2> sigma{0, 0};
  double probability = 1;
  std::string channel = {};  ///< the one it is for; empty: every channel
};
/// Nearest reduction to this fraction of the edge, linear enlargement back.
struct LowResolutionSpec {
  std::array<double, 2> scale{1, 1};
  double probability = 1;
  std::string channel = {};  ///< the one it is for; empty: every channel
};

using VolumeTransformSpec =
    std::variant<VolumeAffineSpec, VolumeElasticSpec, WindowHuSpec, WindowSuvSpec,
                 ClipPercentilesSpec, VolumeNormalizeSpec, VolumeBrightnessSpec, VolumeContrastSpec,
                 VolumeGammaSpec, VolumeNoiseSpec, VolumeBlurSpec, LowResolutionSpec>;

/// The channel that an entry is for; empty: every channel, as for all geometry.
std::string channel_of(const VolumeTransformSpec& spec);
/// The unit of the channels that an entry is for; nothing: of any.
std::optional<IntensityUnit> unit_of(const VolumeTransformSpec& spec);

/// Reads the list under `transforms:`; the entry `preset: nnunet` becomes nnU-Net's default list.
/// Errors: usage, with line and nearest valid name.
std::vector<VolumeTransformSpec> parse_volume_transforms(const YamlValue& list);
/// The same list in full, with presets expanded and defaults: the run records and hashes it.
Json to_json(const std::vector<VolumeTransformSpec>& specs);
std::string name_of(const VolumeTransformSpec& spec);

}  // namespace headrace::transform
