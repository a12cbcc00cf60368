#include "learn/result/level_place.hpp"

namespace headrace::result {
namespace {

constexpr const char* kTransformations = "coordinateTransformations";
constexpr const char* kScale = "scale";
constexpr const char* kTranslation = "translation";

}  // namespace

Json dataset_json(std::size_t level, const LevelPlace& place) {
  // NGFF asks for this order: the translation is in the unit of the axes, not in pixels.
  const Json transformations =
      Json::array({Json{{"type", kScale}, {kScale, place.scale}},
                   Json{{"type", kTranslation}, {kTranslation, place.translation}}});
  return {{"path", std::to_string(level)}, {kTransformations, transformations}};
}

LevelPlace place_of(const Json& dataset) {
  LevelPlace out;
  for (const Json& transformation : dataset.at(kTransformations)) {
    if (transformation.contains(kScale)) transformation.at(kScale).get_to(out.scale);
    if (transformation.contains(kTranslation))
      transformation.at(kTranslation).get_to(out.translation);
  }
  return out;
}

}  // namespace headrace::result
