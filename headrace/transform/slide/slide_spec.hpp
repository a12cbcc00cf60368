#pragma once
#include <array>
#include <string>
#include <variant>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/core/yaml.hpp"

namespace headrace::transform {

/// One struct for each entry of `transforms:` in the run config; a range [low, high] is drawn
/// uniformly.
struct AffineSpec {
  std::array<double, 2> rotate_deg{0, 0}, scale{1, 1}, shear_deg{0, 0};
  double translate = 0;  ///< each axis uniform in ± this fraction of the patch's edge
  bool flip = false;     ///< each axis with probability 1/2
};
/// Displacement by a uniform cubic B-spline over grid × grid control cells; control values uniform
/// in ± magnitude_um.
struct ElasticSpec {
  int grid = 8;
  double magnitude_um = 10, probability = 1;
};
/// Maps the slide's own stain matrix and maxima (estimated at ingest) to the reference's.
struct StainNormalizeSpec {
  std::string method = "macenko";
  std::string reference = "builtin";  ///< "builtin", or an image id of the store
};
/// Maps the scanner's mean and spread in optical density to the cohort's.
struct ScannerColorSpec {};
/// Tellez et al. 2019: each Ruifrok stain concentration c becomes c·(1+a)+b, a and b uniform in ±
/// sigma.
struct HedJitterSpec {
  double sigma = 0.05;
};
/// Factors uniform in 1 ± value (brightness, contrast, saturation); hue shift uniform in ± value
/// turns.
struct ColorJitterSpec {
  double brightness = 0, contrast = 0, saturation = 0, hue = 0;
};
/// Full range is 1.
struct GaussianNoiseSpec {
  std::array<double, 2> sigma{0, 0};
  double probability = 1;
};
/// sigma in output pixels.
struct BlurSpec {
  std::array<double, 2> sigma{0, 0};
  double probability = 1;
};
/// (value - mean) / std with values in 0..1, one mean and std for each RGB channel.
struct NormalizeSpec {
  std::array<double, 3> mean{0, 0, 0}, std{1, 1, 1};
};

using TransformSpec =
    std::variant<AffineSpec, ElasticSpec, StainNormalizeSpec, ScannerColorSpec, HedJitterSpec,
                 ColorJitterSpec, GaussianNoiseSpec, BlurSpec, NormalizeSpec>;

/// Reads the list under `transforms:`. Errors: usage, with line and nearest valid name.
std::vector<TransformSpec> parse_transforms(const YamlValue& list);
/// The same list in full, with defaults: the run records and hashes it.
Json to_json(const std::vector<TransformSpec>& specs);
/// The name of an entry in the run config, e.g. "stain_normalize".
std::string name_of(const TransformSpec& spec);

}  // namespace headrace::transform
