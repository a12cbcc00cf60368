#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "headrace/core/error.hpp"
#include "headrace/loader/config/loader_config_parts.hpp"
#include "headrace/transform/slide/slide_graph.hpp"
#include "headrace/transform/slide/slide_spec.hpp"
#include "headrace/transform/volume/volume_graph.hpp"
#include "headrace/transform/volume/volume_spec.hpp"

namespace headrace::loader::detail {
namespace {

/// For a key that means something in a run of one kind alone.
std::function<std::string()> only_in(const LoaderConfig& config, bool volumes) {
  return [&config, volumes]() -> std::string {
    if (config.volumes == volumes) return {};
    return config.volumes
               ? "belongs to runs on slides, but patch.size has three numbers (z, y, x), which is "
                 "a run on volumes. Leave it out"
               : "belongs to runs on volumes, but patch.size has two numbers (y, x), which is a "
                 "run on slides. Leave it out";
  };
}

}  // namespace

Form slide_size_form(transform::PatchSpec& patch) {
  const auto read = [&patch](const YamlValue& value) {
    const auto size = value.as_list(2);
    patch.height = static_cast<std::int32_t>(size[0].as_int(16, 8192));
    patch.width = static_cast<std::int32_t>(size[1].as_int(16, 8192));
  };
  return {read,
          [&patch] {
            return Json::array({patch.height, patch.width});
          },
          "2 numbers, each 16 to 8192",
          {}};
}

namespace {

Form size_form(LoaderConfig& config) {
  if (config.volumes) return form::numbers(config.volume_patch.size_zyx, 8, 1024);
  return slide_size_form(config.patch);
}

Form context_form(std::vector<int>& context) {
  Form form = form::numbers(context, 1, 64);
  form.accepts += ", from 1 on, rising";
  form.read = [&context, read_all = form.read](const YamlValue& value) {
    read_all(value);
    if (context.empty()) value.reject("expected at least [1], found an empty list");
    if (context.front() != 1) {
      value.as_list().front().reject(fmt::format(
          "the first context is the patch itself and must be 1, found {}", context.front()));
    }
    for (std::size_t i = 1; i < context.size(); ++i) {
      if (context[i] > context[i - 1]) continue;
      value.as_list()[i].reject(
          fmt::format("contexts must rise, found {} after {}", context[i], context[i - 1]));
    }
  };
  return form;
}

/// A size of pixels; null: those of level 0, whatever their size.
Form level0_or(Form form, bool& in_level0_pixels) {
  form.accepts += ", or null";
  form.json = [&in_level0_pixels, json = form.json] {
    return in_level0_pixels ? Json(nullptr) : json();
  };
  form.read_null = [&in_level0_pixels] { in_level0_pixels = true; };
  return form;
}

}  // namespace

Fields patch_fields(LoaderConfig& config) {
  bool& in_pixels = config.patch_in_level0_pixels;
  const auto of_slides = only_in(config, false), of_volumes = only_in(config, true);
  return {
      {"size", size_form(config), "height, width in pixels; of volumes z, y, x in voxels"},
      Field{"mpp", level0_or(form::number(config.patch.mpp, 0.01, 1000), in_pixels),
            "slides: micrometres a pixel; null: pixels of level 0"}
          .unless(of_slides),
      Field{"context", context_form(config.patch.context),
            "slides: concentric patches at these multiples of mpp"}
          .unless(of_slides),
      Field{"spacing_mm",
            level0_or(form::numbers(config.volume_patch.spacing_mm_zyx, 0.05, 100), in_pixels),
            "volumes: millimetres a voxel; null: voxels of level 0"}
          .unless(of_volumes),
  };
}

void read_patch(YamlMap map, LoaderConfig& config) {
  const auto size = map.find("size");
  const std::size_t axes = size ? size->as_list().size() : 0;
  const bool gleason = config.task == Task::grading, colorectal = config.task == Task::lesions;
  config.volumes = axes == 3 || (axes == 0 && (colorectal || (!gleason && map.has("spacing_mm"))));
  if (size && axes != 2 && axes != 3) {
    size->reject(
        fmt::format("expected two numbers (y, x) for slides or three (z, y, x) for "
                    "volumes, found {}",
                    axes));
  }
  if (config.volumes && gleason)
    size->reject("task grading is for slides: expected two numbers (y, x), found 3");
  if (!config.volumes && colorectal)
    size->reject("task lesions reads volumes: expected three numbers (z, y, x), found 2");
  read_fields(map, patch_fields(config));
  if (config.patch_in_level0_pixels) config.patch.mpp = 1;
  map.finish();
}

transform::TransformList read_slide_transforms(const YamlValue& list,
                                               const transform::PatchSpec& patch) {
  const transform::TransformList transforms = transform::parse_transforms(list);
  // Whether the store has the image that stain_normalize names is checked when it is opened.
  const auto any_colour = [](const std::string&) {
    ImageColour colour;
    colour.has_stain = true;
    colour.stain_od_rgb_he = {0.65, 0.07, 0.70, 0.99, 0.29, 0.11};
    colour.max_concentration = {1, 1};
    return colour;
  };
  with_context(list.location() + ": transforms",
               [&] { transform::Graph::compile(transforms, patch, any_colour); });
  return transforms;
}

void read_transforms(const YamlValue& list, LoaderConfig& config) {
  if (config.volumes) {
    const std::string where = list.location() + ": transforms";
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
  config.transforms = read_slide_transforms(list, config.patch);
}

}  // namespace headrace::loader::detail
