#include "learn/inference/stitcher.hpp"

#include <algorithm>
#include <utility>

#include "headrace/core/error.hpp"
#include "learn/inference/host_canvas.hpp"

namespace headrace::inference {

Stitcher::Axes Stitcher::turned(const Axes& zyx) const {
  return slides_ ? Axes{zyx[1], zyx[0], zyx[2]} : zyx;
}

Stitcher::Stitcher(const Window& window_zyx, Extent extent, std::unique_ptr<Canvas> canvas)
    : slides_(window_zyx[0].size() == 1), extent_(std::move(extent)), canvas_(std::move(canvas)) {
  const Window window = inference::turned(window_zyx);
  for (std::size_t axis = 0; axis < 3; ++axis)
    tile_[axis] = static_cast<std::int64_t>(window[axis].size());
}

Stitcher::Stitcher(std::int64_t classes, const Window& window_zyx, Extent extent, Sink sink,
                   ThreadPool* pool)
    : Stitcher(window_zyx, std::move(extent),
               std::make_unique<HostCanvas>(classes, window_zyx, std::move(sink), pool)) {}

void Stitcher::start_image(std::uint32_t image) {
  image_ = image;
  size_ = turned(extent_(image));
  first_ = 0;
  reach_.assign(static_cast<std::size_t>(tile_[0]), {});
  canvas_->start(image_, size_);
  open_ = true;
}

std::span<const TileResult> Stitcher::side_by_side(std::span<const TileResult> tiles) const {
  const TileResult& front = tiles.front();
  const std::int64_t first = turned(front.origin_zyx)[0];
  std::size_t count = 1;
  while (count < tiles.size() && tiles[count].image == front.image &&
         turned(tiles[count].origin_zyx)[0] == first)
    ++count;
  return tiles.first(count);
}

void Stitcher::place(std::span<const TileResult> tiles) {
  placed_.clear();
  for (const TileResult& tile : tiles) {
    PlacedTile placed{turned(tile.origin_zyx), {}, {}, tile.probabilities, tile.truth};
    bool empty = false;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      placed.begin[axis] = std::max<std::int64_t>(0, placed.origin[axis]);
      placed.end[axis] = std::min(size_[axis], placed.origin[axis] + tile_[axis]);
      empty |= placed.begin[axis] >= placed.end[axis];
    }
    if (!empty) placed_.push_back(placed);
  }
}

/// All parts of a tile are reached alike.
void Stitcher::reach(std::int64_t low, std::int64_t high) {
  for (const PlacedTile& tile : placed_) {
    const auto begin = static_cast<std::size_t>(tile.begin[1] * size_[2] + tile.begin[2]);
    const auto end = static_cast<std::size_t>((tile.end[1] - 1) * size_[2] + tile.end[2]);
    for (std::int64_t at = low; at < high; ++at) {
      Reach& own = reach_[static_cast<std::size_t>(at % tile_[0])];
      own.begin = own.covered() ? std::min(own.begin, begin) : begin;
      own.end = std::max(own.end, end);
    }
  }
}

void Stitcher::add(std::span<const TileResult> tiles) {
  while (!tiles.empty()) {
    const auto row = side_by_side(tiles);
    const std::uint32_t image = row.front().image;
    if (!open_ || image != image_) {
      if (open_ && image < image_) {
        fail(ErrorCode::internal, "Tiles come out of order: image {} after {}.", image, image_);
      }
      if (open_) release(size_[0]);
      start_image(image);
    }
    const std::int64_t origin = turned(row.front().origin_zyx)[0];
    const std::int64_t low = std::max<std::int64_t>(0, origin);
    const std::int64_t high = std::min(size_[0], origin + tile_[0]);
    if (low < first_) {
      fail(ErrorCode::internal, "Tiles of image {} come out of order: row {} after {}.", image_,
           low, first_);
    }
    release(std::min(low, size_[0]));
    place(row);
    if (!placed_.empty()) {
      reach(low, high);
      canvas_->blend(placed_, low, high);
    }
    tiles = tiles.subspan(row.size());
  }
}

void Stitcher::release(std::int64_t end) {
  std::vector<Reach> parts;
  while (first_ < end) {
    const std::int64_t count = std::min(end - first_, tile_[0]);
    parts.clear();
    for (std::int64_t at = first_; at < first_ + count; ++at)
      parts.push_back(std::exchange(reach_[static_cast<std::size_t>(at % tile_[0])], {}));
    canvas_->release(first_, parts);
    first_ += count;
  }
}

void Stitcher::finish() {
  if (open_) release(size_[0]);
  open_ = false;
  canvas_->finish();
}

}  // namespace headrace::inference
