#include "headrace/loader/plan/loader_plan.hpp"

#include <algorithm>
#include <utility>

#include "headrace/cohort/annotation.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/machine_memory.hpp"
#include "headrace/device/cuda_device.hpp"
#include "headrace/device/device_scope.hpp"
#include "headrace/device/memory_relief.hpp"
#include "headrace/loader/plan/background_labels.hpp"
#include "headrace/loader/plan/expected_dataset.hpp"
#include "headrace/loader/plan/level_choice.hpp"

namespace headrace::loader::detail {

using device::DeviceChoice;

namespace {

constexpr std::int64_t kMostPatchesOfALaunch = 65535;  // of blocks along y

void check_request(const cohort::Cohort& cohort, const LoaderConfig& config, bool with_labels) {
  if (config.loader.device == DeviceChoice::cuda && !device::cuda::cuda_available()) {
    fail(ErrorCode::unsupported, "loader.device is 'cuda', but {}. Use auto or cpu",
         device::cuda::describe());
  }
  check_expected_dataset(cohort, config);
  if (with_labels && config.loader.device == DeviceChoice::cuda &&
      !cohort.class_match().keeps_values()) {
    fail(ErrorCode::unsupported,
         "{}: its classes are not those of the run in their order, and labels are matched by name "
         "on the CPU alone. Set loader.device: cpu",
         cohort.path());
  }
  if (with_labels && config.data.outside == Outside::ignore &&
      config.loader.device == DeviceChoice::cuda) {
    fail(ErrorCode::unsupported,
         "data.outside is 'ignore', which is applied to batches made on the CPU alone. Set "
         "loader.device: cpu");
  }
  if (with_labels && config.data.labels.empty()) {
    fail(ErrorCode::usage,
         "labels are asked for, but data.labels is null. Name the label images of the store");
  }
}

void check_share(const LoaderPlan& loader_plan) {
  if (loader_plan.turn < loader_plan.every && loader_plan.first_sample >= 0 &&
      loader_plan.batch > 0 &&
      loader_plan.first_sample + loader_plan.batch <= loader_plan.whole_batch)
    return;
  fail(ErrorCode::usage,
       "a share of {} samples from sample {} on is not in a batch of {}, or turn {} not one of {}",
       loader_plan.batch, loader_plan.first_sample, loader_plan.whole_batch, loader_plan.turn,
       loader_plan.every);
}

/// Of the patches that labels belong to.
double first_mpp(const LoaderConfig& config) {
  return config.views.empty() ? config.patch.mpp : config.views.front().patch.mpp;
}

/// Label views, and the labels of images that are known to be negative.
void settle_labels(LoaderPlan& loader_plan) {
  const auto& images = loader_plan.cohort->images();
  const LoaderConfig& config = loader_plan.config;
  loader_plan.background.resize(images.size());
  if (!loader_plan.with_labels) return;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const cohort::ImageRecord& image = images[i];
    loader_plan.label_views.emplace_back(*loader_plan.cohort, i, config.data.labels,
                                         config.data.outside == Outside::ignore);
    if (image.has_labels(config.data.labels) || !cohort::declared_negative(image)) continue;
    if (image.volume) {
      const auto& shape = image.volume->levels[choose_volume_level(image, config)].shape_zyx;
      loader_plan.background[i] = background_labels({shape.begin(), shape.end()});
    } else {
      const auto& level = image.levels[choose_level(image, first_mpp(config), config)];
      loader_plan.background[i] = background_labels({level.height, level.width});
    }
  }
}

void compile_slides(LoaderPlan& loader_plan) {
  const Preprocessing& preprocessing = *loader_plan.preprocessing;
  const LoaderConfig& config = loader_plan.config;
  std::vector<LoaderConfig::View> views = config.views;
  if (views.empty())
    views.push_back(
        {"", static_cast<int>(config.patch.context.size()), config.patch, config.transforms});
  std::int64_t values = 0;
  std::uint64_t crops = 0;
  for (const LoaderConfig::View& view : views) {
    ViewPlan plan{view.name,
                  transform::Graph::compile(view.transforms, view.patch,
                                            [&](const std::string& name) {
                                              return preprocessing.reference_colour(name);
                                            }),
                  view.crops, crops, values};
    crops += static_cast<std::uint64_t>(view.crops);
    values += view.crops * 3 * plan.pixels();
    loader_plan.views.push_back(std::move(plan));
  }
  for (const cohort::ImageRecord& image : loader_plan.cohort->images())
    loader_plan.colours.push_back(preprocessing.colour_of(image));
  loader_plan.contexts = views.front().crops;
  loader_plan.height = views.front().patch.height;
  loader_plan.width = views.front().patch.width;
}

/// Which of several patches of a place its labels would belong to is not told.
void check_views(const LoaderConfig& config, bool with_labels) {
  if (!with_labels || config.views.empty() || config.views.front().crops == 1) return;
  fail(ErrorCode::usage,
       "views: '{}', the first one, has {} crops, and labels are those of one. Put a view of one "
       "crop first, or set data.labels: null",
       config.views.front().name, config.views.front().crops);
}

void compile_volumes(LoaderPlan& loader_plan) {
  const LoaderConfig& config = loader_plan.config;
  const Preprocessing& preprocessing = *loader_plan.preprocessing;
  const transform::VolumePatchSpec& patch = config.volume_patch;
  const auto stored = stored_channels(preprocessing, *loader_plan.cohort);
  for (std::size_t c = 0; c < stored.size(); ++c) {
    const ChannelPreprocessing channel =
        preprocessing.channels.empty() ? ChannelPreprocessing{"", preprocessing.foreground, {}}
                                       : preprocessing.channels[c];
    loader_plan.volume_channels.push_back(
        {stored[c], transform::VolumeGraph::compile(
                        config.volume_transforms, patch, channel.foreground,
                        {channel.name, static_cast<std::uint32_t>(c), channel.unit})});
  }
  loader_plan.channels = static_cast<std::int64_t>(stored.size());
  if (loader_plan.channels > 1 && config.loader.device == DeviceChoice::cuda) {
    fail(ErrorCode::unsupported,
         "loader.device is 'cuda', but batches of {} channels are made on the CPU alone. Use auto "
         "or cpu",
         loader_plan.channels);
  }
  loader_plan.depth = patch.size_zyx[0];
  loader_plan.height = patch.size_zyx[1];
  loader_plan.width = patch.size_zyx[2];
}

void check_memory(const LoaderPlan& loader_plan) {
  const int batches = loader_plan.config.loader.prefetch + 1;
  const double needed = static_cast<double>(loader_plan.batch_bytes()) * batches;
  const double present = machine_memory_bytes();
  if (needed <= present) return;
  fail(ErrorCode::memory,
       "{} batches of {:.2f} GiB do not fit into the {:.1f} GiB of this machine. Lower "
       "loader.prefetch, the batch or "
       "patch.size",
       batches, static_cast<double>(loader_plan.batch_bytes()) / (1 << 30), present / (1 << 30));
}

/// A launch has a row of blocks for each patch.
void check_launches(const LoaderPlan& loader_plan) {
  for (const ViewPlan& view : loader_plan.views) {
    if (loader_plan.batch * view.crops <= kMostPatchesOfALaunch) continue;
    fail(
        ErrorCode::unsupported,
        "a batch of {} samples has {} patches, and a GPU takes {} at once. Lower the batch, or crops",
        loader_plan.batch, loader_plan.batch * view.crops, kMostPatchesOfALaunch);
  }
}

void check_device_memory(LoaderPlan& loader_plan) {
  loader_plan.device_index = device::cuda::process_device();
  const device::cuda::DeviceScope scope(loader_plan.device_index);
  const auto mib = static_cast<std::size_t>(loader_plan.config.loader.device_memory_mib);
  const std::size_t least = least_device_bytes(loader_plan);
  std::size_t free = device::cuda::free_bytes();
  const std::size_t wanted = mib == 0 ? 2 * least : mib << 20;
  if (wanted > free && device::cuda::relieve_memory()) free = device::cuda::free_bytes();
  loader_plan.device_limit_bytes = mib == 0 ? free / 2 : mib << 20;
  if (mib << 20 > free) {
    fail(ErrorCode::memory,
         "loader.device_memory_mib is {}, which the loader takes when it starts, but {} MiB of the "
         "GPU are free. Lower it, leave it out for half of what is free, or end what else uses the "
         "GPU",
         mib, free >> 20);
  }
  if (least <= loader_plan.device_limit_bytes) return;
  fail(ErrorCode::memory,
       "{} batches with their windows need {} MiB of the GPU, but the loader may take {} "
       "(loader.device_memory_mib; {} are free). Raise it, or lower loader.prefetch, the batch or "
       "patch.size",
       loader_plan.config.loader.prefetch, least >> 20, loader_plan.device_limit_bytes >> 20,
       free >> 20);
}

}  // namespace

transform::TensorFormat choose_format(const LoaderConfig& config, bool on_device) {
  using transform::Element, transform::Layout;
  transform::TensorFormat format;
  switch (config.loader.element) {
    case ElementChoice::automatic:
      if (on_device && config.loader.amp != AutoSwitch::off) format.element = Element::bfloat16;
      break;
    case ElementChoice::bfloat16:
      format.element = Element::bfloat16;
      break;
    case ElementChoice::float16:
      format.element = Element::float16;
      break;
    case ElementChoice::float32:
      break;
  }
  const LayoutChoice layout = config.loader.layout;
  const bool last =
      layout == LayoutChoice::automatic ? on_device : layout == LayoutChoice::channels_last;
  format.layout = last ? Layout::channels_last : Layout::channels_first;
  return format;
}

std::size_t least_window_bytes(const LoaderPlan& loader_plan) {
  const std::size_t voxel = loader_plan.depth > 0 ? sizeof(std::int16_t) : 3u;
  const std::size_t values =
      loader_plan.image_bytes() / transform::bytes_of(loader_plan.format.element);
  const std::size_t pixels = values / static_cast<std::size_t>(loader_plan.channels);
  return static_cast<std::size_t>(loader_plan.batch) * (pixels * voxel + loader_plan.label_bytes());
}

std::size_t least_device_bytes(const LoaderPlan& loader_plan) {
  const auto ring = static_cast<std::size_t>(loader_plan.config.loader.prefetch);
  return ring * least_window_bytes(loader_plan) + (ring + 2) * loader_plan.batch_bytes();
}

std::int64_t LoaderPlan::plane() const { return std::max<std::int64_t>(depth, 1) * height * width; }
std::size_t LoaderPlan::image_bytes() const {
  const std::int64_t values =
      views.empty() ? contexts * channels * plane()
                    : views.back().values_before + views.back().crops * 3 * views.back().pixels();
  return static_cast<std::size_t>(values) * transform::bytes_of(format.element);
}
std::size_t LoaderPlan::view_bytes(const ViewPlan& view) const {
  return static_cast<std::size_t>(view.crops * 3 * view.pixels()) *
         transform::bytes_of(format.element);
}
std::size_t LoaderPlan::view_at(const ViewPlan& view) const {
  return static_cast<std::size_t>(batch * view.values_before) * transform::bytes_of(format.element);
}
std::size_t LoaderPlan::label_bytes() const {
  return with_labels ? static_cast<std::size_t>(plane()) : 0;
}
std::size_t LoaderPlan::batch_bytes() const {
  return static_cast<std::size_t>(batch) * (image_bytes() + label_bytes());
}

std::size_t LoaderPlan::labels_at() const {
  return static_cast<std::size_t>(batch) * image_bytes();
}

LoaderPlan make_loader_plan(std::shared_ptr<const cohort::Cohort> cohort,
                            const LoaderConfig& config, std::shared_ptr<const SamplePlan> plan,
                            std::shared_ptr<const Preprocessing> preprocessing, bool with_labels,
                            Share share) {
  check_request(*cohort, config, with_labels);
  check_views(config, with_labels);
  if (!preprocessing)
    preprocessing = std::make_shared<const Preprocessing>(Preprocessing::fit(*cohort, config));
  LoaderPlan loader_plan;
  loader_plan.preprocessing = std::move(preprocessing);
  loader_plan.whole_batch = plan->random() ? config.sampling.batch : config.tiles.batch;
  loader_plan.first_sample = share.first;
  loader_plan.turn = static_cast<std::uint64_t>(share.turn);
  loader_plan.every = static_cast<std::uint64_t>(share.every);
  loader_plan.batch = share.count > 0 ? share.count : loader_plan.whole_batch - share.first;
  check_share(loader_plan);
  loader_plan.cohort = std::move(cohort);
  loader_plan.config = config;
  loader_plan.plan = std::move(plan);
  loader_plan.with_labels = with_labels;
  settle_labels(loader_plan);
  if (config.volumes) {
    compile_volumes(loader_plan);
  } else {
    compile_slides(loader_plan);
  }
  const bool on_device = config.loader.device == DeviceChoice::cuda;
  loader_plan.format = choose_format(config, on_device);
  if (on_device) {
    check_launches(loader_plan);
    check_device_memory(loader_plan);
  } else {
    check_memory(loader_plan);
  }
  loader_plan.decoding = choose_decoding(loader_plan);
  return loader_plan;
}

}  // namespace headrace::loader::detail
