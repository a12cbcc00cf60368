#include "headrace/ingest/volume/ome_volume.hpp"

#include "headrace/cohort/ome_label.hpp"

namespace headrace::ingest {

Json volume_multiscales(const VolumePlan& plan, const std::string& name, bool image) {
  Json axes = Json::array();
  for (const char* axis : {"z", "y", "x"}) {
    axes.push_back({{"name", axis}, {"type", "space"}, {"unit", "millimeter"}});
  }
  const auto spacing_mm = plan.spacing_mm_zyx();
  const auto origin = plan.grid.origin_lps_mm();
  Json datasets = Json::array();
  for (std::size_t k = 0; k < plan.levels.size(); ++k) {
    Json scale = Json::array(), translation = Json::array();
    for (std::size_t a = 0; a < 3; ++a) {
      const auto factor = static_cast<double>(plan.levels[k].factor_zyx[a]);
      scale.push_back(spacing_mm[a] * factor);
      translation.push_back(origin[2 - a] + (factor - 1) / 2 * spacing_mm[a]);
    }
    datasets.push_back(
        {{"path", std::to_string(k)},
         {"coordinateTransformations",
          Json::array({Json{{"type", "scale"}, {"scale", scale}},
                       Json{{"type", "translation"}, {"translation", translation}}})}});
  }
  Json all = Json::array();
  all.push_back({{"name", name},
                 {"axes", axes},
                 {"datasets", datasets},
                 {"type", image ? "mean of 2" : "nearest to the centre"}});
  return all;
}

Json ome_volume(const VolumePlan& plan, const std::string& id, IntensityUnit unit) {
  const bool suv = unit == IntensityUnit::suv;
  // What viewers show at first, of stored values.
  const auto [low, high] = usual_window(unit);
  const int per_unit = stored_per_unit(unit);
  const Json window{{"min", suv ? 0 : -1024},
                    {"max", suv ? 5000 : 3071},
                    {"start", static_cast<int>(low) * per_unit},
                    {"end", static_cast<int>(high) * per_unit}};
  const Json channel{{"label", suv ? "SUV * 100" : "HU"},
                     {"color", "FFFFFF"},
                     {"active", true},
                     {"window", window}};
  return {{"version", cohort::kOmeVersion},
          {"multiscales", volume_multiscales(plan, id, true)},
          {"omero", {{"channels", Json::array({channel})}, {"rdefs", {{"model", "greyscale"}}}}}};
}

}  // namespace headrace::ingest
