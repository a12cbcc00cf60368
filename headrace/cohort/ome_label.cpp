#include "headrace/cohort/ome_label.hpp"

#include <array>

namespace headrace::cohort {
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

}  // namespace

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

}  // namespace headrace::cohort
