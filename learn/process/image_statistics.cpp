#include "learn/process/image_statistics.hpp"

#include <algorithm>
#include <mutex>

#include "headrace/core/ordered_tasks.hpp"
#include "headrace/device/buffer.hpp"

namespace headrace::process {
namespace {

constexpr std::int64_t kStainBlock = 256, kStainBlocks = 1024;
constexpr std::size_t kMaxWorkers = 8;  // a stain accumulator is 8 MiB

/// A grid of blocks over an image, from which some evenly spread ones are taken.
struct Blocks {
  std::int64_t height, width, across, all, chosen;

  Blocks(const ImageInfo& info, bool stain)
      : height(stain ? kStainBlock : info.block_height),
        width(stain ? kStainBlock : info.block_width),
        across((info.width + width - 1) / width),
        all(across * ((info.height + height - 1) / height)),
        chosen(stain ? std::min(all, kStainBlocks) : all) {}
};

}  // namespace

ImageStatistics gather_statistics(const ImageSource& source, NeededStatistics needed,
                                  ThreadPool& pool) {
  const ImageInfo& info = source.info();
  const bool stain = needed == NeededStatistics::stain;
  const Blocks blocks(info, stain);
  const std::size_t workers =
      std::min<std::size_t>(static_cast<std::size_t>(pool.size()), kMaxWorkers);

  ImageStatistics sum;
  std::mutex mutex;
  std::vector<std::unique_ptr<ImageStatistics>> idle;
  run_in_order(pool, static_cast<std::size_t>(blocks.chosen), workers, [&](std::size_t i) {
    std::unique_ptr<ImageStatistics> mine;
    {
      const std::lock_guard lock(mutex);
      if (!idle.empty()) {
        mine = std::move(idle.back());
        idle.pop_back();
      }
    }
    if (!mine) mine = std::make_unique<ImageStatistics>();
    static thread_local device::HostBuffer pixels;
    const std::int64_t block = static_cast<std::int64_t>(i) * blocks.all / blocks.chosen;
    Box2 box{block / blocks.across * blocks.height, block % blocks.across * blocks.width, 0, 0};
    box.height = std::min(blocks.height, info.height - box.y0);
    box.width = std::min(blocks.width, info.width - box.x0);
    pixels.reserve(static_cast<std::size_t>(box.height * box.width * 3));
    source.read(box, pixels.as<std::uint8_t>(), box.width * 3);
    if (stain) {
      mine->stain.add(pixels.as<std::uint8_t>(), box.height * box.width);
    } else {
      pixels::count_darkest(pixels.as<std::uint8_t>(), box.height * box.width, mine->darkest);
    }
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(mine));
  });
  for (const auto& part : idle) sum.merge(*part);
  return sum;
}

ImageStatistics gather_statistics(const DeviceImage& image, NeededStatistics needed) {
  ImageStatistics sum;
  if (needed == NeededStatistics::none) return sum;
  const bool stain = needed == NeededStatistics::stain;
  const ImageInfo& info = image.info();
  Accelerator& accelerator = image.accelerator();
  const std::size_t count = stain ? pixels::kStainTotals : sum.darkest.size();
  const auto bytes = static_cast<std::int64_t>(count * sizeof(std::uint64_t));
  const device::Memory there = image.memory_for(count * sizeof(std::uint64_t), "the statistics");
  const device::Memory here = accelerator.host_memory(count * sizeof(std::uint64_t));
  const auto totals = reinterpret_cast<std::uint64_t*>(there.get());
  const SourceView view = image.view();
  const pixels::RgbView rgb{view.base, view.row_bytes};
  const auto queue = accelerator.queue();
  queue->clear(there.get(), bytes);
  if (stain) {
    const Blocks blocks(info, true);
    queue->gather(pixels::StainSums{rgb,
                                    info.height,
                                    info.width,
                                    0,
                                    0,
                                    {},
                                    blocks.all,
                                    blocks.across,
                                    blocks.chosen,
                                    static_cast<std::int32_t>(kStainBlock),
                                    totals,
                                    pixels::stain_rule(sum.stain.variant())});
  } else {
    queue->gather(
        pixels::DarkestCount{rgb, info.height, static_cast<std::int32_t>(info.width), totals});
  }
  queue->to_host(here.get(), bytes, there.get(), bytes, bytes, 1);
  queue->wait();
  const auto sums = reinterpret_cast<const std::uint64_t*>(here.get());
  if (stain) {
    sum.stain.add_totals({sums, count});
  } else {
    std::copy_n(sums, count, sum.darkest.begin());
  }
  return sum;
}

}  // namespace headrace::process
