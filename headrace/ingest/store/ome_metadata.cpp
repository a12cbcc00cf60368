#include "headrace/ingest/store/ome_metadata.hpp"

#include <array>
#include <cmath>

namespace headrace::ingest {
namespace {

// Class 0 is clear; then the colours that pathologists' viewers use for rising malignancy, and more
// for other tasks.
constexpr std::array<std::array<int, 4>, 8> kColours{{{0, 0, 0, 0},
                                                      {76, 175, 80, 255},
                                                      {33, 150, 243, 255},
                                                      {255, 235, 59, 255},
                                                      {255, 152, 0, 255},
                                                      {244, 67, 54, 255},
                                                      {156, 39, 176, 255},
                                                      {0, 188, 212, 255}}};

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
  return {{"version", kOmeVersion},
          {"multiscales", multiscales(plan, id, true)},
          {"omero",
           {{"channels", Json::array({channel("red", "FF0000"), channel("green", "00FF00"),
                                      channel("blue", "0000FF")})},
            {"rdefs", {{"model", "color"}}}}}};
}

Json ome_label(const SlidePlan& plan, const std::string& name,
               const std::vector<std::string>& classes) {
  return ome_label_image(multiscales(plan, name, false), classes);
}

Json ome_label_image(const Json& multiscales, const std::vector<std::string>& classes) {
  Json colours = Json::array(), properties = Json::array();
  for (std::size_t v = 0; v < classes.size(); ++v) {
    const std::size_t colour = v < kColours.size() ? v : 1 + (v - 1) % (kColours.size() - 1);
    colours.push_back({{"label-value", v}, {"rgba", kColours[colour]}});
    properties.push_back({{"label-value", v}, {"class", classes[v]}});
  }
  return {{"version", kOmeVersion},
          {"multiscales", multiscales},
          {"image-label",
           {{"version", kOmeVersion},
            {"colors", colours},
            {"properties", properties},
            {"source", {{"image", "../../"}}}}}};
}

Json ome_labels_group(const std::vector<std::string>& names) {
  return {{"version", kOmeVersion}, {"labels", names}};
}

}  // namespace headrace::ingest
