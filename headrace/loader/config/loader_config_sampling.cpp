#include <fmt/format.h>

#include "headrace/loader/config/loader_config_parts.hpp"

namespace headrace::loader::detail {
namespace {

Form weights_form(std::map<std::string, double>& weights) {
  const auto read = [&weights](const YamlValue& value) {
    weights.clear();
    YamlMap map(value);
    double sum = 0;
    for (const std::string& cohort : map.keys()) {
      const auto weight = map.find(cohort);
      if (!weight)
        value.reject(
            fmt::format("cohort '{}' has no weight; give it a number, 0 to leave it out", cohort));
      sum += weights[cohort] = weight->as_double(0, 1e6);
    }
    if (!weights.empty() && sum <= 0)
      value.reject("every weight is 0; at least one must be above 0");
  };
  return {read, [&weights] { return Json(weights); }, "a number for each cohort", {}};
}

Balance inside_of(const LoaderConfig& config) {
  return config.volumes ? Balance::body : Balance::tissue;
}

/// A window is of whole images, so what is drawn must not choose among them.
void check_window(YamlMap& map, const LoaderConfig& config) {
  const LoaderConfig::Sampling& sampling = config.sampling;
  if (sampling.window_images == 0) {
    if (const auto value = map.find("patches_per_image"))
      value->reject("needs sampling.window_images; give it, or leave this out");
    return;
  }
  const auto window = map.find("window_images");
  if (sampling.balance != inside_of(config) && sampling.balance != Balance::image)
    window->reject(
        fmt::format("needs sampling.balance: {} or image, by which no class chooses the image",
                    name_of(inside_of(config))));
  if (sampling.near_lesions > 0) window->reject("has no meaning with sampling.near_lesions");
  if (!sampling.cohort_weights.empty())
    window->reject("has no meaning with sampling.cohort_weights: each image has its patches");
  if (sampling.order != SampleOrder::random)
    window->reject("has an order of its own; leave sampling.order out");
}

void check_sampling(YamlMap& map, const LoaderConfig& config) {
  check_window(map, config);
  if (config.volumes && config.sampling.min_tissue > 0)
    map.find("min_tissue")->reject("belongs to runs on slides. Leave it out");
  const LoaderConfig::Sampling& sampling = config.sampling;
  const bool has_labels = !config.data.labels.empty();
  if (sampling.balance == Balance::of_class && !has_labels) {
    map.find("balance")->reject(
        fmt::format("'class' needs labels, but data.labels is null. Use {} or image, or name the "
                    "labels",
                    name_of(inside_of(config))));
  }
  if (sampling.near_lesions > 0 && !has_labels)
    map.find("near_lesions")->reject("needs labels, but data.labels is null");
  if (sampling.background + sampling.near_lesions > 1) {
    map.find("near_lesions")
        ->reject(fmt::format("this part and sampling.background ({}) are together more than 1",
                             sampling.background));
  }
  if (sampling.order == SampleOrder::random) return;
  constexpr const char* kAlike =
      "has no meaning with sampling.order: cover, which visits all alike";
  if (!sampling.cohort_weights.empty()) map.find("cohort_weights")->reject(kAlike);
  if (sampling.lesion_size_power != LoaderConfig::Sampling().lesion_size_power)
    map.find("lesion_size_power")->reject(kAlike);
}

}  // namespace

Fields sampling_fields(LoaderConfig& config) {
  LoaderConfig::Sampling& sampling = config.sampling;
  return {
      {"seed", form::number(sampling.seed, 0, INT64_MAX), "all randomness follows from it"},
      {"batch", form::number(sampling.batch, 1, 4096), "patches of a batch"},
      {"batches_per_epoch", form::number(sampling.batches_per_epoch, 1, 100'000'000),
       "batches of an epoch"},
      {"foreground", form::number(sampling.foreground, 0, 1),
       "part of the samples drawn by balance; the rest lie on tissue, or in the body"},
      {"balance",
       form::choice(sampling.balance,
                    {Balance::automatic, Balance::of_class, inside_of(config), Balance::image}),
       "what those samples are drawn by; auto: class where a training image has one"},
      {"cohort_weights", weights_form(sampling.cohort_weights), "shares of the cohorts", "none"},
      {"keep_inside", form::flag(sampling.keep_inside),
       "centres are moved so that the patch lies inside its image"},
      {"lesion_size_power", form::number(sampling.lesion_size_power, 0, 1),
       "chance of a region of a class: its size to this power"},
      {"background", form::number(sampling.background, 0, 1),
       "part of the rest that lies anywhere in the image"},
      {"near_lesions", form::number(sampling.near_lesions, 0, 1),
       "part of the rest that lies near lesions, but on none"},
      {"near_distance", form::number(sampling.near_distance, 1e-3, 1e6),
       "how near, along each axis: micrometres, or millimetres of volumes"},
      {"near_classes", form::texts(sampling.near_classes), "the lesions' classes",
       "every class above 0"},
      {"order", form::choice(sampling.order),
       "cover: every region and image before any of them again"},
      Field{"window_images", form::number(sampling.window_images, 0, 1'000'000),
            "samples come from so many images at a time, in an order of each pass; 0: from all"}
          .written_if(sampling.window_images > 0),
      Field{"patches_per_image", form::number(sampling.patches_per_image, 1, 1'000'000),
            "of each image of a window"}
          .written_if(sampling.window_images > 0),
      Field{"min_tissue", form::number(sampling.min_tissue, 0, 1),
            "slides: least share of tissue under a patch that lies on tissue"}
          .written_if(sampling.min_tissue > 0),
  };
}

void read_sampling(YamlMap map, LoaderConfig& config) {
  if (config.data.labels.empty()) config.sampling.balance = inside_of(config);
  read_fields(map, sampling_fields(config));
  check_sampling(map, config);
  map.finish();
}

}  // namespace headrace::loader::detail
