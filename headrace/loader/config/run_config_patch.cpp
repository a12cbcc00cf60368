#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/loader/config/run_config_parts.hpp"

namespace headrace::loader::detail {
namespace {

/// Keys that mean something in a run of the other kind.
void refuse_keys(YamlMap& map, std::initializer_list<const char*> keys, const RunConfig& config) {
  for (const char* key : keys) {
    const auto value = map.find(key);
    if (!value) continue;
    value->reject(config.volumes
                      ? "belongs to runs on slides, but patch.size has three numbers (z, y, x), "
                        "which is a run on volumes. Leave it out"
                      : "belongs to runs on volumes, but patch.size has two numbers (y, x), which "
                        "is a run on slides. Leave it out");
  }
}

void parse_slide_patch(YamlMap& map, RunConfig& config) {
  transform::PatchSpec& patch = config.patch;
  if (const auto value = map.find("size")) {
    const auto size = value->as_list(2);
    patch.height = static_cast<std::int32_t>(size[0].as_int(16, 8192));
    patch.width = static_cast<std::int32_t>(size[1].as_int(16, 8192));
  }
  refuse_keys(map, {"spacing_mm"}, config);
  config.patch_in_level0_pixels = is_given_null(map, "mpp");
  patch.mpp = config.patch_in_level0_pixels ? 1.0 : map.get_double("mpp", patch.mpp, 0.01, 1000);
  if (const auto value = map.find("context")) {
    patch.context.clear();
    for (const YamlValue& entry : value->as_list()) {
      const int context = static_cast<int>(entry.as_int(1, 64));
      if (patch.context.empty() && context != 1) {
        entry.reject(
            fmt::format("the first context is the patch itself and must be 1, found {}", context));
      }
      if (!patch.context.empty() && context <= patch.context.back()) {
        entry.reject(
            fmt::format("contexts must rise, found {} after {}", context, patch.context.back()));
      }
      patch.context.push_back(context);
    }
    if (patch.context.empty()) value->reject("expected at least [1], found an empty list");
  }
}

void parse_volume_patch(YamlMap& map, RunConfig& config) {
  transform::VolumePatchSpec& patch = config.volume_patch;
  if (const auto value = map.find("size")) {
    const auto size = value->as_list(3);
    for (std::size_t axis = 0; axis < 3; ++axis)
      patch.size_zyx[axis] = static_cast<std::int32_t>(size[axis].as_int(8, 1024));
  }
  refuse_keys(map, {"mpp", "context"}, config);
  config.patch_in_level0_pixels = is_given_null(map, "spacing_mm");
  if (config.patch_in_level0_pixels) patch.spacing_mm_zyx = {1, 1, 1};
  if (const auto value = map.find("spacing_mm")) {
    const auto spacing = value->as_list(3);
    for (std::size_t axis = 0; axis < 3; ++axis)
      patch.spacing_mm_zyx[axis] = spacing[axis].as_double(0.05, 100);
  }
}

}  // namespace

bool has_key(const YamlMap& map, const std::string& key) {
  const auto keys = map.keys();
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool is_given_null(YamlMap& map, const std::string& key) {
  return has_key(map, key) && !map.find(key);
}

void parse_patch(YamlMap map, RunConfig& config) {
  const auto size = map.find("size");
  const std::size_t axes = size ? size->as_list().size() : 0;
  config.volumes =
      axes == 3 || (axes == 0 && (config.task == "colorectal" ||
                                  (config.task != "gleason" && has_key(map, "spacing_mm"))));
  if (size && axes != 2 && axes != 3) {
    size->reject(
        fmt::format("expected two numbers (y, x) for slides or three (z, y, x) for "
                    "volumes, found {}",
                    axes));
  }
  if (config.volumes && config.task == "gleason")
    size->reject("task gleason grades slides: expected two numbers (y, x), found 3");
  if (!config.volumes && config.task == "colorectal")
    size->reject("task colorectal reads volumes: expected three numbers (z, y, x), found 2");
  if (config.volumes) {
    parse_volume_patch(map, config);
  } else {
    parse_slide_patch(map, config);
  }
  map.finish();
}

void parse_transform_list(const YamlValue& list, RunConfig& config) {
  const std::string where = list.location() + ": transforms";
  if (config.volumes) {
    config.volume_transforms = transform::parse_volume_transforms(list);
    // The training set's foreground is known only when the store is opened.
    const IntensityStats any{.voxels = 1, .mean = 0, .std = 1, .low = -1, .high = 1};
    // Which channels there are, and in which units, too: each that is named, and one that is not.
    std::set<std::string> channels{""};
    for (const auto& spec : config.volume_transforms) channels.insert(transform::channel_of(spec));
    with_context(where, [&] {
      for (const std::string& channel : channels) {
        for (const IntensityUnit unit : {IntensityUnit::hu, IntensityUnit::suv}) {
          transform::VolumeGraph::compile(config.volume_transforms, config.volume_patch, any,
                                          {channel, 0, unit});
        }
      }
    });
    return;
  }
  config.transforms = transform::parse_transforms(list);
  // Whether the store has the image that stain_normalize names is checked when it is opened.
  const auto any_colour = [](const std::string&) {
    ImageColour colour;
    colour.has_stain = true;
    colour.stain_od_rgb_he = {0.65, 0.07, 0.70, 0.99, 0.29, 0.11};
    colour.max_concentration = {1, 1};
    return colour;
  };
  with_context(where,
               [&] { transform::Graph::compile(config.transforms, config.patch, any_colour); });
}

}  // namespace headrace::loader::detail
