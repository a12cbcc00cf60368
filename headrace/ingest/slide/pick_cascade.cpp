#include "headrace/ingest/slide/pick_cascade.hpp"

#include <algorithm>

namespace headrace::ingest {

std::int64_t centre_pick(std::int64_t i, int k, std::int64_t level0_size) {
  if (k == 0) return i;
  return std::min((i << k) + (std::int64_t{1} << (k - 1)), level0_size - 1);
}

PickCascade::PickCascade(std::vector<LevelSize> levels, std::int64_t tile,
                         device::BufferPool& buffers, Sink sink)
    : levels_(std::move(levels)),
      tile_(tile),
      buffers_(buffers),
      sink_(std::move(sink)),
      count_y_((levels_[0].height + tile - 1) / tile),
      count_x_((levels_[0].width + tile - 1) / tile),
      base_(tiles_in_z_order(count_y_, count_x_)) {}

Box2 PickCascade::box(int level, TileIndex index) const {
  const LevelSize& size = levels_[static_cast<std::size_t>(level)];
  const std::int64_t y0 = index.y * tile_, x0 = index.x * tile_;
  return {y0, x0, std::min(tile_, size.height - y0), std::min(tile_, size.width - x0)};
}

std::int64_t PickCascade::base_tiles_under(int level, TileIndex index) const {
  const auto span = [&](std::int64_t i, std::int64_t count) {
    return std::min((i + 1) << level, count) - (i << level);
  };
  return span(index.y, count_y_) * span(index.x, count_x_);
}

void PickCascade::deliver(TileIndex index, device::BufferPool::Lease pixels) {
  sink_({0, index, box(0, index), pixels.data()});
  for (int k = 1; k < static_cast<int>(levels_.size()); ++k) pick(k, index, pixels.data());
}

void PickCascade::pick(int level, TileIndex base, const std::uint8_t* pixels) {
  const TileIndex index{base.y >> level, base.x >> level};
  const Box2 to = box(level, index);
  // A source's own level may be rounded down, so that a strip of level 0 lies under no tile of it.
  if (to.height <= 0 || to.width <= 0) return;
  Open* open = nullptr;
  {
    const std::lock_guard lock(mutex_);
    auto [it, made] = open_.try_emplace({level, morton(index)});
    open = &it->second;
    if (made) {
      open->pixels = buffers_.take(static_cast<std::size_t>(to.height * to.width));
      open->missing = base_tiles_under(level, index);
    }
  }
  const Box2 from = box(0, base);
  const std::int64_t y_begin = std::max(to.y0, from.y0 >> level);
  const std::int64_t x_begin = std::max(to.x0, from.x0 >> level);
  for (std::int64_t y = y_begin; y < to.y0 + to.height; ++y) {
    const std::int64_t row = centre_pick(y, level, levels_[0].height) - from.y0;
    if (row >= from.height) break;
    if (row < 0) continue;
    std::uint8_t* dst = open->pixels.data() + (y - to.y0) * to.width - to.x0;
    const std::uint8_t* src = pixels + row * from.width;
    for (std::int64_t x = x_begin; x < to.x0 + to.width; ++x) {
      const std::int64_t column = centre_pick(x, level, levels_[0].width) - from.x0;
      if (column >= from.width) break;
      if (column >= 0) dst[x] = src[column];
    }
  }
  device::BufferPool::Lease finished;
  {
    const std::lock_guard lock(mutex_);
    if (--open->missing > 0) return;
    finished = std::move(open->pixels);
    open_.erase({level, morton(index)});
  }
  sink_({level, index, to, finished.data()});
}

}  // namespace headrace::ingest
