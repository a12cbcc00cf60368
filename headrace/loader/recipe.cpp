#include "headrace/loader/recipe.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/machine_memory.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/loader/background_labels.hpp"
#include "headrace/loader/expected_dataset.hpp"
#include "headrace/loader/level_choice.hpp"
#include "headrace/source/annotation.hpp"

namespace headrace::loader::detail {
namespace {

void check_request(const source::Cohort& cohort, const RunConfig& config, bool with_labels) {
  if (config.loader.device == "cuda" && !device::cuda::cuda_available()) {
    fail(ErrorCode::unsupported, "loader.device is 'cuda', but {}. Use auto or cpu",
         device::cuda::describe());
  }
  check_expected_dataset(cohort, config);
  if (with_labels && config.loader.device == "cuda" && !cohort.class_match().keeps_values()) {
    fail(ErrorCode::unsupported,
         "{}: its classes are not those of the run in their order, and labels are matched by name "
         "on the CPU alone. Set loader.device: cpu",
         cohort.path());
  }
  if (with_labels && config.data.outside == "ignore" && config.loader.device == "cuda") {
    fail(ErrorCode::unsupported,
         "data.outside is 'ignore', which is applied to batches made on the CPU alone. Set "
         "loader.device: cpu");
  }
  if (with_labels && config.data.labels.empty()) {
    fail(ErrorCode::usage,
         "labels are asked for, but data.labels is null. Name the label images of the store");
  }
}

void check_share(const Recipe& recipe) {
  if (recipe.turn < recipe.every && recipe.first_sample >= 0 && recipe.batch > 0 &&
      recipe.first_sample + recipe.batch <= recipe.whole_batch)
    return;
  fail(ErrorCode::usage,
       "a share of {} samples from sample {} on is not in a batch of {}, or turn {} not one of {}",
       recipe.batch, recipe.first_sample, recipe.whole_batch, recipe.turn, recipe.every);
}

/// Label views, and the labels of images that are known to be negative.
void settle_labels(Recipe& recipe) {
  const auto& images = recipe.cohort->images();
  const RunConfig& config = recipe.config;
  recipe.background.resize(images.size());
  if (!recipe.with_labels) return;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const source::ImageRecord& image = images[i];
    recipe.label_views.emplace_back(*recipe.cohort, i, config.data.labels,
                                    config.data.outside == "ignore");
    if (image.has_labels(config.data.labels) || !source::declared_negative(image)) continue;
    if (image.volume) {
      const auto& shape = image.volume->levels[choose_volume_level(image, config)].shape_zyx;
      recipe.background[i] = background_labels({shape.begin(), shape.end()});
    } else {
      const auto& level = image.levels[choose_level(image, config.patch.context.front(), config)];
      recipe.background[i] = background_labels({level.height, level.width});
    }
  }
}

void compile_slides(Recipe& recipe) {
  const Preprocessing& preprocessing = *recipe.preprocessing;
  const transform::PatchSpec& patch = recipe.config.patch;
  recipe.graph = transform::Graph::compile(
      recipe.config.transforms, patch,
      [&](const std::string& name) { return preprocessing.reference_colour(name); });
  for (const source::ImageRecord& image : recipe.cohort->images())
    recipe.colours.push_back(preprocessing.colour_of(image));
  recipe.contexts = static_cast<std::int64_t>(patch.context.size());
  recipe.height = patch.height;
  recipe.width = patch.width;
}

void compile_volumes(Recipe& recipe) {
  const RunConfig& config = recipe.config;
  const Preprocessing& preprocessing = *recipe.preprocessing;
  const transform::VolumePatchSpec& patch = config.volume_patch;
  const auto stored = stored_channels(preprocessing, *recipe.cohort);
  for (std::size_t c = 0; c < stored.size(); ++c) {
    const ChannelPreprocessing channel =
        preprocessing.channels.empty() ? ChannelPreprocessing{"", preprocessing.foreground, {}}
                                       : preprocessing.channels[c];
    recipe.volume_channels.push_back(
        {stored[c], transform::VolumeGraph::compile(
                        config.volume_transforms, patch, channel.foreground,
                        {channel.name, static_cast<std::uint32_t>(c), channel.unit})});
  }
  recipe.channels = static_cast<std::int64_t>(stored.size());
  if (recipe.channels > 1 && config.loader.device == "cuda") {
    fail(ErrorCode::unsupported,
         "loader.device is 'cuda', but batches of {} channels are made on the CPU alone. Use auto "
         "or cpu",
         recipe.channels);
  }
  recipe.depth = patch.size_zyx[0];
  recipe.height = patch.size_zyx[1];
  recipe.width = patch.size_zyx[2];
}

void check_memory(const Recipe& recipe) {
  const int batches = recipe.config.loader.prefetch + 1;
  const double needed = static_cast<double>(recipe.batch_bytes()) * batches;
  const double present = machine_memory_bytes();
  if (needed <= present) return;
  fail(ErrorCode::memory,
       "{} batches of {:.2f} GiB do not fit into the {:.1f} GiB of this machine. Lower "
       "loader.prefetch, the batch or "
       "patch.size",
       batches, static_cast<double>(recipe.batch_bytes()) / (1 << 30), present / (1 << 30));
}

void check_device_memory(Recipe& recipe) {
  recipe.device_index = device::cuda::process_device();
  device::cuda::use_device(recipe.device_index);
  const auto mib = static_cast<std::size_t>(recipe.config.loader.device_memory_mib);
  const std::size_t free = device::cuda::free_bytes();
  recipe.device_limit_bytes = mib == 0 ? free / 2 : mib << 20;
  const std::size_t least = least_device_bytes(recipe);
  if (least <= recipe.device_limit_bytes) return;
  fail(ErrorCode::memory,
       "{} batches with their windows need {} MiB of the GPU, but the loader may take {} "
       "(loader.device_memory_mib; {} are free). Raise it, or lower loader.prefetch, the batch or "
       "patch.size",
       recipe.config.loader.prefetch, least >> 20, recipe.device_limit_bytes >> 20, free >> 20);
}

}  // namespace

transform::TensorFormat choose_format(const RunConfig& config, bool on_device) {
  using transform::Element, transform::Layout;
  const auto& [element, layout] = std::tie(config.loader.element, config.loader.layout);
  transform::TensorFormat format;
  if (element == "auto") {
    if (on_device && config.train.amp != "off") format.element = Element::bfloat16;
  } else {
    format.element = element == "bfloat16"  ? Element::bfloat16
                     : element == "float16" ? Element::float16
                                            : Element::float32;
  }
  const bool last = layout == "auto" ? on_device : layout == "channels_last";
  format.layout = last ? Layout::channels_last : Layout::channels_first;
  return format;
}

std::size_t least_device_bytes(const Recipe& recipe) {
  const std::size_t voxel = recipe.depth > 0 ? sizeof(std::int16_t) : 3u;
  const std::size_t windows =
      static_cast<std::size_t>(recipe.batch) *
      (static_cast<std::size_t>(recipe.contexts * recipe.plane()) * voxel + recipe.label_bytes());
  const auto ring = static_cast<std::size_t>(recipe.config.loader.prefetch);
  return ring * windows + (ring + 2) * recipe.batch_bytes();
}

std::int64_t Recipe::plane() const { return std::max<std::int64_t>(depth, 1) * height * width; }
std::size_t Recipe::image_bytes() const {
  return static_cast<std::size_t>(contexts * channels * plane()) *
         transform::bytes_of(format.element);
}
std::size_t Recipe::label_bytes() const {
  return with_labels ? static_cast<std::size_t>(plane()) : 0;
}
std::size_t Recipe::batch_bytes() const {
  return static_cast<std::size_t>(batch) * (image_bytes() + label_bytes());
}

std::size_t Recipe::labels_at() const { return static_cast<std::size_t>(batch) * image_bytes(); }

Recipe make_recipe(std::shared_ptr<const source::Cohort> cohort, const RunConfig& config,
                   std::shared_ptr<const SamplePlan> plan,
                   std::shared_ptr<const Preprocessing> preprocessing, bool with_labels,
                   Share share) {
  check_request(*cohort, config, with_labels);
  if (!preprocessing)
    preprocessing = std::make_shared<const Preprocessing>(Preprocessing::fit(*cohort, config));
  Recipe recipe;
  recipe.preprocessing = std::move(preprocessing);
  recipe.whole_batch = plan->random() ? config.sampling.batch : config.eval.batch;
  recipe.first_sample = share.first;
  recipe.turn = static_cast<std::uint64_t>(share.turn);
  recipe.every = static_cast<std::uint64_t>(share.every);
  recipe.batch = share.count > 0 ? share.count : recipe.whole_batch - share.first;
  check_share(recipe);
  recipe.cohort = std::move(cohort);
  recipe.config = config;
  recipe.plan = std::move(plan);
  recipe.with_labels = with_labels;
  settle_labels(recipe);
  if (config.volumes) {
    compile_volumes(recipe);
  } else {
    compile_slides(recipe);
  }
  const bool on_device = config.loader.device == "cuda";
  recipe.format = choose_format(config, on_device);
  if (on_device) {
    check_device_memory(recipe);
  } else {
    check_memory(recipe);
  }
  recipe.decoding = choose_decoding(recipe);
  return recipe;
}

}  // namespace headrace::loader::detail
