#include "headrace/transform/volume/operations/volume_window.hpp"

#include <fmt/format.h>

#include "headrace/transform/volume/volume_draw.hpp"

namespace headrace::transform {

template <IntensityUnit kUnit>
void WindowSpec<kUnit>::read(YamlMap& map) {
  const double most = kMostStored / stored_per_unit(kUnit);
  channel = map.get_string("channel", channel);
  low = map.get_double("low", low, -most, most);
  const auto upper = map.find("high");
  if (upper) high = upper->as_double(-most, most);
  if (low < high) return;
  const std::string problem = fmt::format(
      "the window [{}, {}] {} is empty; low must be less than high", low, high, name_of(kUnit));
  if (upper) upper->reject(problem);
  map.require("low").reject(problem);
}

template <IntensityUnit kUnit>
Json WindowSpec<kUnit>::to_json() const {
  return {{"low", low}, {"high", high}};
}

template <IntensityUnit kUnit>
void WindowSpec<kUnit>::draw(VolumeDraw& draw) const {
  draw.passes.stage(linear_stage(low, 1 / (high - low), 0, 1));
}

template struct WindowSpec<IntensityUnit::hu>;
template struct WindowSpec<IntensityUnit::suv>;

}  // namespace headrace::transform
