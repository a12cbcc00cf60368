#include "learn/result/label_image.hpp"

#include "headrace/cohort/ome_label.hpp"
#include "headrace/pixels/palette.hpp"

namespace headrace::result {

void paint_as_predictions(Json& ome) {
  for (Json& colour : ome.at("image-label").at("colors")) {
    const auto value = colour.at("label-value").get<std::size_t>();
    if (value == 0) continue;  // clear already
    const pixels::Rgb rgb = pixels::class_colour(value);
    colour["rgba"] = {rgb[0], rgb[1], rgb[2], 255};
  }
}

std::vector<std::string> lesion_names(std::size_t count) {
  std::vector<std::string> names{"background"};
  for (std::size_t k = 1; k <= count; ++k) names.push_back("lesion " + std::to_string(k));
  return names;
}

Json label_image(const Json& multiscales, const std::vector<std::string>& classes) {
  Json ome = cohort::ome_label_image(multiscales, classes);
  paint_as_predictions(ome);
  return ome;
}

}  // namespace headrace::result
