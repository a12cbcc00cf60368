#include "learn/inference/canvas_choice.hpp"

#include <ATen/ops/empty.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <algorithm>
#include <utility>

#include "headrace/core/log.hpp"
#include "learn/inference/canvas_memory.hpp"
#include "learn/inference/patch_grid.hpp"
#include "learn/inference/tensor_canvas.hpp"
#include "learn/inference/volume/tensor_grid.hpp"

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

Level0 level0_of(const cohort::ImageRecord& image, const config::RunConfig& config) {
  return {image.volume->levels.front().shape_zyx, step_zyx(image, config)};
}

CanvasExtent extent_of(const TiledImages& of, std::size_t runs) {
  CanvasExtent out{of.classes, tile_window(of.config), 1, 0, runs, of.batch};
  for (const std::uint32_t image : of.images) {
    const cohort::ImageRecord& record = of.cohort.images()[image];
    const auto extent = extent_zyx(record, of.config);
    const bool volume = of.config.volumes;
    out.most_pixels = std::max(out.most_pixels, volume ? extent[1] * extent[2] : extent[2]);
    if (volume)
      out.widest = std::max(out.widest, widest_slice(extent, level0_of(record, of.config)));
  }
  return out;
}

void tell(double bytes, const CanvasExtent& extent, const config::RunConfig& config) {
  log::info(
      "tiles are blended on the CPU: on the GPU the widest {} would take {:.1f} GiB{}, more than "
      "half of what is free there",
      config.volumes ? "volume" : "slide", bytes / (1 << 30),
      extent.runs > 1 ? fmt::format(" for {} runs", extent.runs) : "");
}

/// LibTorch keeps what it has taken: what works on parts later finds it there.
void take_once(double bytes, int device) {
  if (device < 0) return;
  at::empty({static_cast<std::int64_t>(bytes)},
            at::TensorOptions(at::kByte).device(at::kCUDA, static_cast<c10::DeviceIndex>(device)));
}

std::unique_ptr<PartSender> sender_of(const TiledImages& of, PartUse use, Canvas::Sink sink) {
  if (of.config.volumes) {
    use.level0 = [&cohort = of.cohort, &config = of.config](std::uint32_t image) {
      return level0_of(cohort.images()[image], config);
    };
  }
  return std::make_unique<PartSender>(std::move(use), std::move(sink));
}

CanvasesThere make_canvases(const CanvasExtent& extent, int device,
                            std::unique_ptr<TensorSink> sink) {
  CanvasesThere out;
  if (extent.runs > 1) out.mean = std::make_shared<TensorMean>(extent.runs, std::move(sink));
  for (std::size_t run = 0; run < extent.runs; ++run) {
    out.canvases.push_back(std::make_unique<TensorCanvas>(
        extent.classes, extent.window_zyx, extent.most_pixels, device,
        out.mean ? TensorMean::input(out.mean, run) : std::move(sink)));
  }
  return out;
}

}  // namespace

std::unique_ptr<Canvas> canvas_there(const Network& network, const TiledImages& of, PartUse use,
                                     Canvas::Sink sink, std::optional<double> most_bytes) {
  const Network* const one = &network;
  auto there = canvases_there({&one, 1}, of, std::move(use), std::move(sink), most_bytes);
  return there.canvases.empty() ? nullptr : std::move(there.canvases.front());
}

CanvasesThere canvases_there(std::span<const Network* const> networks, const TiledImages& of,
                             PartUse use, Canvas::Sink sink, std::optional<double> most_bytes) {
  const int device = networks.front()->device();
  const auto blends = [&](const Network* network) {
    return network->blends_there() && network->device() == device;
  };
  if (!std::all_of(networks.begin(), networks.end(), blends)) return {};
  const CanvasExtent extent = extent_of(of, networks.size());
  const double working = working_bytes(extent), bytes = held_bytes(extent) + working;
  if (!most_bytes) most_bytes = half_of_free(device);
  if (!most_bytes || bytes <= *most_bytes) {
    try {
      CanvasesThere out =
          make_canvases(extent, device, sender_of(of, std::move(use), std::move(sink)));
      take_once(working, device);
      return out;
    } catch (const c10::OutOfMemoryError&) {
      // Somebody else took it meanwhile.
    }
  }
  tell(bytes, extent, of.config);
  return {};
}

}  // namespace headrace::inference
