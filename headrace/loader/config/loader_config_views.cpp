#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "headrace/loader/config/loader_config_parts.hpp"
#include "headrace/transform/slide/operations/slide_stain_normalize.hpp"
#include "headrace/transform/slide/slide_spec.hpp"

namespace headrace::loader::detail {
namespace {

using View = LoaderConfig::View;

constexpr int kMostCrops = 64;
constexpr std::size_t kMostViews = 16, kMostNameBytes = 64;

/// All but transforms, which read_view reads.
Fields view_fields(View& view, bool in_level0_pixels) {
  return {
      {"name", form::text(view.name), "by which batches have it"},
      {"crops", form::number(view.crops, 1, kMostCrops), "patches of each sample"},
      {"size", slide_size_form(view.patch), "height, width in pixels", "patch.size"},
      Field{"mpp", form::number(view.patch.mpp, 0.01, 1000), "micrometres a pixel", "patch.mpp"}
          .written_if(!in_level0_pixels),
  };
}

Json view_json(View view, bool in_level0_pixels) {
  Json json = fields_json(view_fields(view, in_level0_pixels));
  json["transforms"] = transform::to_json(view.transforms);
  return json;
}

/// A run has one reference (Preprocessing::stain_reference).
std::optional<std::string> reference_of(const transform::TransformList& transforms) {
  for (const auto& spec : transforms) {
    if (const auto* found = std::get_if<transform::StainNormalizeSpec>(&spec))
      return found->reference;
  }
  return std::nullopt;
}

View read_view(const YamlValue& entry, const LoaderConfig& config) {
  YamlMap map(entry);
  View view;
  view.patch = config.patch;
  view.transforms = config.transforms;
  map.require("name");
  read_fields(map, view_fields(view, config.patch_in_level0_pixels));
  if (const auto mpp = map.find("mpp"); mpp && config.patch_in_level0_pixels)
    mpp->reject(
        "patch.mpp is null, so patches are of pixels of level 0. Leave it out, or state patch.mpp");
  const auto list = map.find("transforms");
  if (list) view.transforms = read_slide_transforms(*list, view.patch);
  map.finish();
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (view.name.empty() || view.name.size() > kMostNameBytes ||
      !std::all_of(view.name.begin(), view.name.end(), plain))
    map.find("name")->reject(fmt::format("expected 1 to {} letters, digits and _", kMostNameBytes));
  return view;
}

}  // namespace

Field views_field(LoaderConfig& config) {
  const Form form{[&config](const YamlValue& list) { read_views(list, config); },
                  [&config] {
                    Json list = Json::array();
                    for (const View& view : config.views)
                      list.push_back(view_json(view, config.patch_in_level0_pixels));
                    return list;
                  },
                  "a list of {name, crops, size, mpp, transforms}",
                  {}};
  return Field{"views", form, "slides: several patches of one place as one sample", "none"}
      .written_if(!config.views.empty());
}

void read_views(const YamlValue& list, LoaderConfig& config) {
  config.views.clear();
  const auto entries = list.as_list();
  if (entries.empty()) return;
  if (config.volumes)
    list.reject("belongs to runs on slides, and this is a run on volumes. Leave it out");
  if (config.patch.context.size() > 1)
    list.reject("patch.context has more than [1]; give a view of its own for each magnification");
  if (entries.size() > kMostViews)
    list.reject(fmt::format("expected at most {} views, found {}", kMostViews, entries.size()));
  std::optional<std::string> reference = reference_of(config.transforms);
  for (const YamlValue& entry : entries) {
    View view = read_view(entry, config);
    for (const View& other : config.views) {
      if (other.name == view.name) entry.reject(fmt::format("two views are called {}", view.name));
    }
    const auto own = reference_of(view.transforms);
    if (reference && own && *own != *reference)
      entry.reject(fmt::format(
          "its stain_normalize.reference is '{}', and that of others '{}'; a run has one", *own,
          *reference));
    if (own) reference = own;
    config.views.push_back(std::move(view));
  }
}

}  // namespace headrace::loader::detail
