#include "headrace/transform/volume/operations/volume_normalize.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/transform/spec_reader.hpp"
#include "headrace/transform/volume/volume_draw.hpp"

namespace headrace::transform {

ValueUse VolumeNormalizeSpec::value_use() const {
  ValueUse use{.leaves_unit = method != NormalizeMethod::none};
  if (method == NormalizeMethod::zscore) use.statistics = StatsSource::patient;
  if (method == NormalizeMethod::foreground) use.statistics = StatsSource::foreground;
  use.needs_unit = use.statistics != StatsSource::none;
  return use;
}

Fields VolumeNormalizeSpec::fields() {
  const auto needs_fixed = [this](const char* key) {
    return [this, key] {
      if (method == NormalizeMethod::fixed) return std::string();
      return fmt::format("only method fixed takes a {}; method {} finds its own", key,
                         headrace::name_of(method));
    };
  };
  return {channel_field(channel),
          {"method", form::choice(method), "whose mean and standard deviation"},
          Field{"mean", form::number(mean, -kMostStored, kMostStored), "of method fixed"}.unless(
              needs_fixed("mean")),
          Field{"std", form::number(std, 1e-6, kMostStored), "of method fixed"}.unless(
              needs_fixed("std"))};
}

void VolumeNormalizeSpec::draw(VolumeDraw& draw) const {
  if (method == NormalizeMethod::fixed) {
    draw.passes.stage(linear_stage(mean, 1 / std));
  } else if (method == NormalizeMethod::zscore) {
    const IntensityStats& stats = draw.known_patient();
    draw.passes.stage(linear_stage(stats.mean, 1 / std::max(stats.std, 1e-8)));
  } else if (method == NormalizeMethod::foreground) {
    const IntensityStats& stats = draw.foreground;
    const double scale = 1 / std::max(stats.std, 1e-8);
    draw.passes.stage(linear_stage(stats.mean, scale, (stats.low - stats.mean) * scale,
                                   (stats.high - stats.mean) * scale));
  }
}

}  // namespace headrace::transform
