#pragma once
#include <string>
#include <string_view>

#include "headrace/core/json.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/transform/volume/operations/value_use.hpp"

namespace headrace::transform {

struct VolumeDraw;

/// Clips to percentiles 0.5 and 99.5 of the patient's body, or of the training set's foreground.
struct ClipPercentilesSpec {
  static constexpr std::string_view kName = "clip_percentiles";
  static constexpr bool kOnce = true;

  std::string of = "patient";  ///< patient | foreground
  std::string channel = {};    ///< the one it is for; empty: every channel

  ValueUse value_use() const;
  void read(YamlMap& map);
  Json to_json() const;
  void draw(VolumeDraw& draw) const;
};

}  // namespace headrace::transform
