#include "headrace/process/image_statistics.hpp"

#include <algorithm>
#include <mutex>

#include "headrace/device/buffer.hpp"
#include "headrace/ingest/ordered_tasks.hpp"

namespace headrace::process {
namespace {

constexpr std::int64_t kStainBlock = 256, kStainBlocks = 1024;
constexpr std::size_t kMaxWorkers = 8;  // a stain accumulator is 8 MiB

void count_darkest(const std::uint8_t* rgb, std::int64_t pixels,
                   std::array<std::uint64_t, 256>& counts) {
  for (std::int64_t i = 0; i < pixels; ++i) {
    ++counts[std::min({rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]})];
  }
}

}  // namespace

ImageStatistics gather_statistics(const ImageSource& source, NeededStatistics needed,
                                  ThreadPool& pool) {
  const ImageFacts& facts = source.facts();
  const bool stain = needed == NeededStatistics::stain;
  const std::int64_t block_height = stain ? kStainBlock : facts.block_height;
  const std::int64_t block_width = stain ? kStainBlock : facts.block_width;
  const std::int64_t across = (facts.width + block_width - 1) / block_width;
  const std::int64_t blocks = across * ((facts.height + block_height - 1) / block_height);
  const std::int64_t chosen = stain ? std::min(blocks, kStainBlocks) : blocks;
  const std::size_t workers =
      std::min<std::size_t>(static_cast<std::size_t>(pool.size()), kMaxWorkers);

  ImageStatistics sum;
  std::mutex mutex;
  std::vector<std::unique_ptr<ImageStatistics>> idle;
  ingest::run_in_order(pool, static_cast<std::size_t>(chosen), workers, [&](std::size_t i) {
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
    const std::int64_t block = static_cast<std::int64_t>(i) * blocks / chosen;
    Box2 box{block / across * block_height, block % across * block_width, 0, 0};
    box.height = std::min(block_height, facts.height - box.y0);
    box.width = std::min(block_width, facts.width - box.x0);
    pixels.reserve(static_cast<std::size_t>(box.height * box.width * 3));
    source.read(box, pixels.as<std::uint8_t>(), box.width * 3);
    if (stain) {
      mine->stain.add(pixels.as<std::uint8_t>(), box.height * box.width);
    } else {
      count_darkest(pixels.as<std::uint8_t>(), box.height * box.width, mine->darkest);
    }
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(mine));
  });
  for (const auto& part : idle) sum.merge(*part);
  return sum;
}

}  // namespace headrace::process
