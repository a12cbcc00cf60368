#include "headrace/loader/plan/preprocessing.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <variant>

#include "headrace/core/error.hpp"
#include "headrace/loader/plan/enlargement.hpp"
#include "headrace/loader/plan/foreground_stats.hpp"
#include "headrace/loader/plan/least_region.hpp"
#include "headrace/loader/plan/outside_body.hpp"
#include "headrace/loader/plan/plan_images.hpp"
#include "headrace/pixels/stain/stain_estimate.hpp"
#include "headrace/transform/slide/operations/slide_stain_normalize.hpp"
#include "headrace/transform/slide/slide_spec.hpp"
#include "headrace/transform/volume/volume_graph.hpp"
#include "headrace/transform/volume/volume_spec.hpp"

namespace headrace::loader {
namespace {

template <typename Spec>
const Spec* find_spec(const transform::TransformList& transforms) {
  for (const auto& spec : transforms) {
    if (const auto* found = std::get_if<Spec>(&spec)) return found;
  }
  return nullptr;
}

/// The first, of all views where there are some.
template <typename Spec>
const Spec* find_spec(const LoaderConfig& config) {
  for (const LoaderConfig::View& view : config.views) {
    if (const Spec* found = find_spec<Spec>(view.transforms)) return found;
  }
  return config.views.empty() ? find_spec<Spec>(config.transforms) : nullptr;
}

pixels::OdMoments moments_of(const ImageColour& colour) {
  return {colour.od_pixels, colour.od_sum, colour.od_product};
}

OdStats stats_of(const pixels::OdMoments& moments) {
  return {moments.pixels, moments.mean(), moments.std()};
}

StainReference fit_reference(const cohort::Cohort& cohort, const std::string& name) {
  const ImageColour colour = name == transform::kBuiltinReference
                                 ? transform::builtin_reference()
                                 : cohort.images()[cohort.find_image(name)].colour;
  if (!colour.has_stain) {
    fail(ErrorCode::usage,
         "{}: transforms: stain_normalize.reference is '{}', which has no stain estimate; name an "
         "image of the store that has one, or 'builtin'",
         cohort.path(), name);
  }
  return {name, colour.stain_od_rgb_he, colour.max_concentration};
}

void fit_scanners(Preprocessing& out, const cohort::Cohort& cohort, const LoaderConfig& config) {
  pixels::OdMoments all;
  std::map<std::string, pixels::OdMoments> scanners;
  for (const std::uint32_t i :
       detail::images_of_split(cohort, config, config.data.train, "data.train")) {
    const cohort::ImageRecord& image = cohort.images()[i];
    const pixels::OdMoments moments = moments_of(image.colour);
    if (moments.pixels == 0) continue;  // no tissue
    scanners[image.scanner].merge(moments);
    all.merge(moments);
  }
  out.od = stats_of(all);
  if (all.pixels == 0) {
    fail(ErrorCode::usage,
         "{}: transforms: scanner_color needs the colours of tissue, but no image of split '{}' "
         "has any. Leave it out, or ingest the slides again",
         cohort.path(), config.data.train);
  }
  for (const auto& [name, moments] : scanners) out.scanners[name] = stats_of(moments);
}

/// An entry for a channel that the run does not read would be left out silently.
void check_named_channels(const Preprocessing& preprocessing, const LoaderConfig& config) {
  std::vector<std::string> names;
  for (const auto& channel : preprocessing.channels) names.push_back(channel.name);
  for (std::size_t i = 0; i < config.volume_transforms.size(); ++i) {
    const std::string name = transform::channel_of(config.volume_transforms[i]);
    if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) continue;
    fail(ErrorCode::usage, "transforms[{}]: {} is for channel '{}', but the run reads {}", i,
         transform::name_of(config.volume_transforms[i]), name,
         names.empty() ? "volumes of one channel, which has no name"
                       : fmt::format("[{}]", fmt::join(names, ", ")));
  }
}

/// So would one for values in another unit than its channel's, or than any channel's.
void check_units(const Preprocessing& preprocessing, const LoaderConfig& config) {
  const ChannelPreprocessing unnamed;
  std::vector<const ChannelPreprocessing*> channels;
  for (const auto& channel : preprocessing.channels) channels.push_back(&channel);
  if (channels.empty()) channels.push_back(&unnamed);
  for (std::size_t i = 0; i < config.volume_transforms.size(); ++i) {
    const auto& spec = config.volume_transforms[i];
    const auto unit = transform::unit_of(spec);
    if (!unit) continue;
    const std::string name = transform::channel_of(spec);
    const auto has_it = [&](const auto* channel) {
      return channel->unit == *unit && (name.empty() || channel->name == name);
    };
    if (std::any_of(channels.begin(), channels.end(), has_it)) continue;
    fail(ErrorCode::usage, "transforms[{}]: {} is for values in {}, but {}", i,
         transform::name_of(spec), name_of(*unit),
         name.empty() ? fmt::format("no channel that the run reads is in {}", name_of(*unit))
                      : fmt::format("channel '{}' is in another unit", name));
  }
}

/// Unscaled values of one channel beside values near 1 of another are a mistake: an entry that
/// scales one channel by its name or unit (and so replaces a preset's own scaling) leaves out the
/// others.
void check_scaled_channels(const Preprocessing& preprocessing, const LoaderConfig& config) {
  std::vector<std::string> scaled, left;
  for (const auto& channel : preprocessing.channels) {
    const transform::ChannelPlace place{channel.name, 0, channel.unit};
    const bool any = std::any_of(
        config.volume_transforms.begin(), config.volume_transforms.end(), [&](const auto& spec) {
          const bool scales = transform::unit_of(spec) ||
                              std::holds_alternative<transform::VolumeNormalizeSpec>(spec);
          return scales && transform::applies(spec, place);
        });
    (any ? scaled : left).push_back(channel.name);
  }
  if (scaled.empty() || left.empty()) return;
  fail(ErrorCode::usage,
       "transforms: no window or normalize for channel '{}', but one for '{}'; give each channel "
       "its own, or one without a channel for all (normalize: {{method: none, channel: {}}} leaves "
       "its values as they are)",
       left.front(), scaled.front(), left.front());
}

void fit_volumes(Preprocessing& out, const cohort::Cohort& cohort, const LoaderConfig& config) {
  const auto needs = [&](const std::string& channel) {
    return transform::VolumeGraph::needs_foreground(config.volume_transforms, channel);
  };
  for (const std::string& name :
       config.data.channels.empty() ? cohort.channels() : config.data.channels)
    out.channels.push_back({name, {}, cohort.unit_of(name)});
  const auto stored = stored_channels(out, cohort);
  check_named_channels(out, config);
  check_units(out, config);
  check_scaled_channels(out, config);
  if (out.channels.empty() && needs("")) out.foreground = detail::foreground_stats(cohort, config);
  for (std::size_t c = 0; c < out.channels.size(); ++c) {
    if (needs(out.channels[c].name))
      out.channels[c].foreground = detail::foreground_stats(cohort, config, stored[c]);
  }
}

}  // namespace

Preprocessing Preprocessing::fit(const cohort::Cohort& cohort, const LoaderConfig& config) {
  Preprocessing out;
  out.classes = cohort.classes();
  out.class_sets = cohort.class_sets();
  out.least_region_mm2 = least_labelled_region_mm2(cohort, config).value_or(0);
  detail::check_kind(cohort, config);
  out.enlarged = most_enlarged_in_training(cohort, config);
  if (config.volumes) {
    out.orientation = "LPS";
    fit_volumes(out, cohort, config);
    out.outside_body = detail::classes_outside_body(cohort, config);
    return out;
  }
  if (const auto* stain = find_spec<transform::StainNormalizeSpec>(config))
    out.stain_reference = fit_reference(cohort, stain->reference);
  if (find_spec<transform::ScannerColorSpec>(config) != nullptr) fit_scanners(out, cohort, config);
  return out;
}

ImageColour Preprocessing::colour_of(const cohort::ImageRecord& image) const {
  ImageColour colour = image.colour;
  if (od.pixels == 0) return colour;
  const auto known = scanners.find(image.scanner);
  const OdStats own = known != scanners.end() ? known->second : stats_of(moments_of(image.colour));
  colour.scanner_od_mean = own.mean;
  colour.scanner_od_std = own.std;
  colour.cohort_od_mean = od.mean;
  colour.cohort_od_std = od.std;
  colour.has_scanner = own.pixels > 0;
  return colour;
}

ImageColour Preprocessing::reference_colour(const std::string& name) const {
  if (!stain_reference || stain_reference->name != name) {
    fail(ErrorCode::internal, "The preprocessing has no stain reference '{}'.", name);
  }
  ImageColour colour;
  colour.stain_od_rgb_he = stain_reference->stain_od_rgb_he;
  colour.max_concentration = stain_reference->max_concentration;
  colour.has_stain = true;
  return colour;
}

std::int64_t channel_count(const Preprocessing& preprocessing, const LoaderConfig& config) {
  if (!config.volumes) return 3;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(preprocessing.channels.size()));
}

std::vector<std::size_t> stored_channels(const Preprocessing& preprocessing,
                                         const cohort::Cohort& cohort) {
  const auto& stored = cohort.channels();
  if (preprocessing.channels.empty()) {
    if (stored.empty()) return {0};
    fail(ErrorCode::usage,
         "{}: its volumes have the channels [{}], but the run reads volumes of one channel, which "
         "has no name. Ingest that channel alone",
         cohort.path(), fmt::join(stored, ", "));
  }
  std::vector<std::size_t> numbers;
  for (const auto& channel : preprocessing.channels) {
    const auto found = std::find(stored.begin(), stored.end(), channel.name);
    if (found == stored.end()) {
      fail(ErrorCode::usage, "{}: no channel '{}', which the run reads; its volumes have {}",
           cohort.path(), channel.name,
           stored.empty() ? "one channel, which has no name"
                          : fmt::format("[{}]", fmt::join(stored, ", ")));
    }
    const auto number = static_cast<std::size_t>(found - stored.begin());
    if (const IntensityUnit unit = cohort.unit_of(number); unit != channel.unit) {
      fail(ErrorCode::usage, "{}: channel '{}' is in {}, but the run reads it in {}", cohort.path(),
           channel.name, name_of(unit), name_of(channel.unit));
    }
    numbers.push_back(number);
  }
  return numbers;
}

std::vector<std::string> unknown_scanners(const Preprocessing& preprocessing,
                                          const cohort::Cohort& cohort, const std::string& split) {
  std::set<std::string> names;
  for (const cohort::ImageRecord& image : cohort.images()) {
    if (image.split == split && preprocessing.od.pixels > 0 &&
        !preprocessing.scanners.contains(image.scanner))
      names.insert(image.scanner);
  }
  return {names.begin(), names.end()};
}

}  // namespace headrace::loader
