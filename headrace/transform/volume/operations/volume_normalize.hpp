#pragma once
#include <string>
#include <string_view>

#include "headrace/core/json.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/transform/volume/operations/value_use.hpp"

namespace headrace::transform {

struct VolumeDraw;

/// (value - mean) / std: of the patient's body, of the foreground (nnU-Net's CT scheme: clips to
/// its percentiles first), of given numbers, or nothing.
struct VolumeNormalizeSpec {
  static constexpr std::string_view kName = "normalize";
  static constexpr bool kOnce = true;

  std::string method = "none";  ///< none | zscore | foreground | fixed
  double mean = 0, std = 1;     ///< of method fixed
  std::string channel = {};     ///< the one it is for; empty: every channel

  ValueUse value_use() const;
  void read(YamlMap& map);
  Json to_json() const;
  void draw(VolumeDraw& draw) const;
};

}  // namespace headrace::transform
