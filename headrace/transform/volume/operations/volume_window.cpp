#include "headrace/transform/volume/operations/volume_window.hpp"

#include <fmt/format.h>

#include "headrace/transform/spec_reader.hpp"
#include "headrace/transform/volume/volume_draw.hpp"

namespace headrace::transform {

template <IntensityUnit kUnit>
Fields WindowSpec<kUnit>::fields() {
  const double most = kMostStored / stored_per_unit(kUnit);
  return {channel_field(channel),
          {"low", form::number(low, -most, most), "becomes 0"},
          {"high", form::number(high, -most, most), "becomes 1"}};
}

template <IntensityUnit kUnit>
void WindowSpec<kUnit>::check(YamlMap& map) const {
  if (low < high) return;
  const auto upper = map.find("high");
  (upper ? *upper : map.require("low"))
      .reject(fmt::format("the window [{}, {}] {} is empty; low must be less than high", low, high,
                          name_of(kUnit)));
}

template <IntensityUnit kUnit>
void WindowSpec<kUnit>::draw(VolumeDraw& draw) const {
  draw.passes.stage(linear_stage(low, 1 / (high - low), 0, 1));
}

template struct WindowSpec<IntensityUnit::hu>;
template struct WindowSpec<IntensityUnit::suv>;

}  // namespace headrace::transform
