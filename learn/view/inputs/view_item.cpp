#include "learn/view/inputs/view_item.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/core/class_sets.hpp"
#include "headrace/pixels/palette.hpp"

namespace headrace::view {
namespace {

/// The label set that ingest makes where none is named.
constexpr const char* kUsualSet = "annotation";

Json class_json(std::size_t value, const std::string& name, std::size_t colour) {
  return {{"value", value}, {"name", name}, {"colour", pixels::css(pixels::class_colour(colour))}};
}

Json classes_json(const std::vector<std::string>& names) {
  Json out = Json::array();
  for (std::size_t value = 1; value < names.size(); ++value)
    out.push_back(class_json(value, names[value], value));
  return out;
}

ViewLayer layer(ViewLayer::What what, std::string name, std::string title, LayerKind kind) {
  ViewLayer out;
  out.what = what;
  out.name = std::move(name);
  out.title = std::move(title);
  out.kind = kind;
  return out;
}

void add_images(const ViewItem& item, std::vector<ViewLayer>& out) {
  if (!item.stored && !item.file) return;
  out.push_back(layer(ViewLayer::What::image, "image", "Image", LayerKind::image));
  if (!item.stored || item.kind != ItemKind::volume) return;
  const auto& channels = item.stored->record().volume->channels;
  for (std::size_t c = 0; c < channels.size(); ++c) {
    if (c == 0) out.back().title = channels[0].name;
    if (c == 0 || !channels[c].stored) continue;
    out.push_back(layer(ViewLayer::What::image, "image:" + channels[c].name, channels[c].name,
                        LayerKind::image));
    out.back().number = c;
  }
}

void add_annotations(const ViewItem& item, std::vector<ViewLayer>& out) {
  if (!item.stored) return;
  const cohort::Cohort& cohort = *item.stored->cohort;
  auto sets = item.stored->record().labels;
  std::stable_partition(sets.begin(), sets.end(),
                        [](const std::string& set) { return set == kUsualSet; });
  for (const std::string& set : sets) {
    const bool usual = set == kUsualSet;
    out.push_back(layer(ViewLayer::What::annotation, usual ? "annotation" : "annotation:" + set,
                        usual ? "Annotation" : fmt::format("Annotation ({})", set),
                        LayerKind::labels));
    out.back().set = set;
    out.back().classes = classes_json(label_names(cohort.classes(), cohort.class_sets()));
  }
}

void add_lesions(const result::ImageResult& result, std::vector<ViewLayer>& out) {
  const Json* lesions = find_at(result.findings(), {"volume", "lesions"});
  if (lesions == nullptr || !lesions->is_array()) return;
  out.push_back(layer(ViewLayer::What::lesions, "lesions", "Lesions", LayerKind::labels));
  // They lie over the classes, so the first of them have other colours.
  const std::size_t classes = result.facts().classes.size() - 1;
  for (std::size_t number = 1; number <= lesions->size() && number < 255; ++number) {
    out.back().classes.push_back(
        class_json(number, fmt::format("lesion {}", number), classes + number));
  }
}

void add_result(const result::ImageResult& result, std::vector<ViewLayer>& out) {
  const auto& classes = result.facts().classes;
  out.push_back(layer(ViewLayer::What::prediction, "prediction", "Prediction", LayerKind::labels));
  out.back().classes = classes_json(classes);
  add_lesions(result, out);
  for (std::size_t c = 1; c < classes.size(); ++c) {
    out.push_back(layer(ViewLayer::What::probability, "probability:" + classes[c],
                        fmt::format("Probability of {}", classes[c]), LayerKind::probability));
    out.back().number = c;
    out.back().classes.push_back(class_json(c, classes[c], c));
  }
}

}  // namespace

std::optional<StoredImage> stored_image(const std::shared_ptr<const cohort::Cohort>& cohort,
                                        const ViewItem& item) {
  const auto& images = cohort->images();
  for (std::size_t i = 0; i < images.size(); ++i) {
    const bool volume = images[i].volume.has_value();
    if (images[i].id == item.id && volume == (item.kind == ItemKind::volume))
      return StoredImage{cohort, i};
  }
  return std::nullopt;
}

std::vector<ViewLayer> layers_of(const ViewItem& item) {
  std::vector<ViewLayer> out;
  add_images(item, out);
  add_annotations(item, out);
  if (item.result) add_result(*item.result, out);
  return out;
}

}  // namespace headrace::view
