#include "headrace/inference/canvas_choice.hpp"

#include <c10/core/CachingDeviceAllocator.h>

#include <algorithm>
#include <utility>

#include "headrace/core/log.hpp"
#include "headrace/inference/patch_grid.hpp"
#include "headrace/inference/volume/tensor_grid.hpp"

namespace headrace::inference {
namespace {

/// Half of what a GPU has free, in LibTorch's cache too. None: not known, or not a GPU.
std::optional<double> half_of_free(int device) {
  if (device < 0) return std::nullopt;
  try {
    const auto index = static_cast<c10::DeviceIndex>(device);
    auto* const memory = c10::getDeviceAllocator(at::kCUDA);
    const auto stats = memory->getDeviceStats(index);
    const auto kept = static_cast<double>(stats.reserved_bytes.front().current -
                                          stats.allocated_bytes.front().current);
    return (static_cast<double>(memory->getMemoryInfo(index).first) + kept) / 2;
  } catch (const c10::Error&) {
    return std::nullopt;
  }
}

Level0 level0_of(const cohort::ImageRecord& image, const loader::RunConfig& config) {
  return {image.volume->levels.front().shape_zyx, step_zyx(image, config)};
}

/// Of any image.
struct Most {
  std::int64_t pixels = 1;  ///< of a part
  std::int64_t widest = 0;  ///< of volumes: widest_slice
};

Most most_of(const cohort::Cohort& cohort, const loader::RunConfig& config,
             std::span<const std::uint32_t> images) {
  Most most;
  for (const std::uint32_t image : images) {
    const cohort::ImageRecord& record = cohort.images()[image];
    const auto extent = extent_zyx(record, config);
    most.pixels = std::max(most.pixels, config.volumes ? extent[1] * extent[2] : extent[2]);
    if (config.volumes)
      most.widest = std::max(most.widest, widest_slice(extent, level0_of(record, config)));
  }
  return most;
}

void tell(double bytes, const loader::RunConfig& config) {
  log::info(
      "tiles are blended on the CPU: on the GPU the widest {} would take {:.1f} GiB, more than "
      "half of what is free there",
      config.volumes ? "volume" : "slide", bytes / (1 << 30));
}

}  // namespace

std::unique_ptr<Canvas> canvas_there(const Network& network, std::int64_t classes,
                                     const cohort::Cohort& cohort, const loader::RunConfig& config,
                                     std::span<const std::uint32_t> images, PartUse use,
                                     Canvas::Sink sink, std::optional<double> most_bytes) {
  if (!network.blends_there()) return nullptr;
  const auto window = tile_window(config);
  const Most most = most_of(cohort, config, images);
  const double bytes = tensor_canvas_bytes(classes, window, most.pixels, most.widest);
  if (config.volumes) {
    use.level0 = [&cohort, &config](std::uint32_t image) {
      return level0_of(cohort.images()[image], config);
    };
  }
  if (!most_bytes) most_bytes = half_of_free(network.device());
  if (!most_bytes || bytes <= *most_bytes) {
    try {
      return std::make_unique<TensorCanvas>(classes, window, most.pixels, network.device(),
                                            std::move(use), std::move(sink), most.widest);
    } catch (const c10::OutOfMemoryError&) {
      // Somebody else took it meanwhile.
    }
  }
  tell(bytes, config);
  return nullptr;
}

}  // namespace headrace::inference
