#include "headrace/transform/volume/operations/volume_normalize.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/transform/volume/volume_draw.hpp"

namespace headrace::transform {

ValueUse VolumeNormalizeSpec::value_use() const {
  ValueUse use{.leaves_unit = method != "none"};
  if (method == "zscore") use.statistics = StatsSource::patient;
  if (method == "foreground") use.statistics = StatsSource::foreground;
  use.needs_unit = use.statistics != StatsSource::none;
  return use;
}

void VolumeNormalizeSpec::read(YamlMap& map) {
  channel = map.get_string("channel", channel);
  method = map.get_choice("method", method, {"none", "zscore", "foreground", "fixed"});
  for (const char* key : {"mean", "std"}) {
    const auto value = map.find(key);
    if (value && method != "fixed") {
      value->reject(
          fmt::format("only method fixed takes a {}; method {} finds its own", key, method));
    }
  }
  mean = map.get_double("mean", mean, -kMostStored, kMostStored);
  std = map.get_double("std", std, 1e-6, kMostStored);
}

Json VolumeNormalizeSpec::to_json() const {
  if (method != "fixed") return {{"method", method}};
  return {{"method", method}, {"mean", mean}, {"std", std}};
}

void VolumeNormalizeSpec::draw(VolumeDraw& draw) const {
  if (method == "fixed") {
    draw.passes.stage(linear_stage(mean, 1 / std));
  } else if (method == "zscore") {
    const IntensityStats& stats = draw.known_patient();
    draw.passes.stage(linear_stage(stats.mean, 1 / std::max(stats.std, 1e-8)));
  } else if (method == "foreground") {
    const IntensityStats& stats = draw.foreground;
    const double scale = 1 / std::max(stats.std, 1e-8);
    draw.passes.stage(linear_stage(stats.mean, scale, (stats.low - stats.mean) * scale,
                                   (stats.high - stats.mean) * scale));
  }
}

}  // namespace headrace::transform
