#include "headrace/ingest/slide/ome_slide.hpp"

#include <cmath>

namespace headrace::ingest {
namespace {

Json axis(const char* name, const char* type, bool in_micrometres) {
  Json axis{{"name", name}, {"type", type}};
  if (in_micrometres) axis["unit"] = "micrometer";
  return axis;
}

Json multiscales(const SlidePlan& plan, const std::string& name, bool image) {
  const bool known = plan.mpp_y > 0;
  Json axes = Json::array();
  if (image) axes.push_back(axis("c", "channel", false));
  axes.push_back(axis("y", "space", known));
  axes.push_back(axis("x", "space", known));
  Json datasets = Json::array();
  for (int k = 0; k < static_cast<int>(plan.levels.size()); ++k) {
    Json scale = Json::array();
    if (image) scale.push_back(1.0);
    scale.push_back(std::ldexp(known ? plan.mpp_y : 1.0, k));
    scale.push_back(std::ldexp(known ? plan.mpp_x : 1.0, k));
    datasets.push_back(
        {{"path", std::to_string(k)},
         {"coordinateTransformations", Json::array({Json{{"type", "scale"}, {"scale", scale}}})}});
  }
  Json all = Json::array();
  all.push_back({{"name", name},
                 {"axes", axes},
                 {"datasets", datasets},
                 {"type", image ? "mean 2x2" : "nearest to the centre"}});
  return all;
}

Json channel(const char* label, const char* colour) {
  return {{"label", label},
          {"color", colour},
          {"active", true},
          {"window", {{"min", 0}, {"max", 255}, {"start", 0}, {"end", 255}}}};
}

}  // namespace

Json ome_image(const SlidePlan& plan, const std::string& id) {
  return {{"version", cohort::kOmeVersion},
          {"multiscales", multiscales(plan, id, true)},
          {"omero",
           {{"channels", Json::array({channel("red", "FF0000"), channel("green", "00FF00"),
                                      channel("blue", "0000FF")})},
            {"rdefs", {{"model", "color"}}}}}};
}

Json ome_label(const SlidePlan& plan, const std::string& name,
               const std::vector<std::string>& classes) {
  return cohort::ome_label_image(multiscales(plan, name, false), classes);
}

}  // namespace headrace::ingest
