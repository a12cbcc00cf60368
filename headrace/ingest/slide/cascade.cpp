#include "headrace/ingest/slide/cascade.hpp"

#include <algorithm>

#include "headrace/pixels/average.hpp"

namespace headrace::ingest {
AverageCascade::AverageCascade(std::vector<LevelSize> levels, std::int64_t tile, int channels,
                               device::BufferPool& buffers, Sink sink)
    : levels_(std::move(levels)),
      tile_(tile),
      channels_(channels),
      buffers_(buffers),
      sink_(std::move(sink)) {
  const auto count = [&](std::int64_t size) { return (size + tile_ - 1) / tile_; };
  base_ = tiles_in_z_order(count(levels_[0].height), count(levels_[0].width));
}

Box2 AverageCascade::box(int level, TileIndex index) const {
  const LevelSize& size = levels_[static_cast<std::size_t>(level)];
  const std::int64_t y0 = index.y * tile_, x0 = index.x * tile_;
  return {y0, x0, std::min(tile_, size.height - y0), std::min(tile_, size.width - x0)};
}

void AverageCascade::finish_tile(int level, TileIndex index, device::BufferPool::Lease pixels) {
  const Box2 from = box(level, index);
  sink_({level, index, from, pixels.data()});
  const int next = level + 1;
  if (next == static_cast<int>(levels_.size())) return;
  const TileIndex parent{index.y / 2, index.x / 2};
  const Box2 to = box(next, parent);
  Open* open = nullptr;
  {
    const std::lock_guard lock(mutex_);
    auto [it, made] = open_.try_emplace({next, morton(parent)});
    open = &it->second;
    if (made) {
      open->pixels = buffers_.take(static_cast<std::size_t>(to.height * to.width * channels_));
      // The grid of this level ends after one child where the parent is the last and holds half a
      // tile or less.
      open->missing = (to.height * 2 > tile_ ? 2 : 1) * (to.width * 2 > tile_ ? 2 : 1);
    }
  }
  const std::int64_t stride = to.width * channels_;
  const std::int64_t y = from.y0 / 2 - to.y0, x = from.x0 / 2 - to.x0;
  pixels::average_2x2(pixels.data(), from.height, from.width, channels_, from.width * channels_,
                      open->pixels.data() + y * stride + x * channels_, stride);
  pixels.release();
  device::BufferPool::Lease finished;
  {
    const std::lock_guard lock(mutex_);
    if (--open->missing > 0) return;
    finished = std::move(open->pixels);
    open_.erase({next, morton(parent)});
  }
  finish_tile(next, parent, std::move(finished));
}

}  // namespace headrace::ingest
