#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "headrace/core/geometry.hpp"
#include "headrace/device/buffer.hpp"
#include "headrace/ingest/slide/tile_order.hpp"

namespace headrace::ingest {

/// Height and width of one level, in pixels.
struct LevelSize {
  std::int64_t height = 0, width = 0;
  bool operator==(const LevelSize&) const = default;
};

/// A finished tile of one level. Pixels are interleaved; rows are `box.width * channels` bytes
/// apart.
struct CascadeTile {
  int level = 0;
  TileIndex index;
  Box2 box;
  const std::uint8_t* pixels = nullptr;
};

/// Builds a pyramid in one pass over its first level: base tiles are delivered in any order and
/// from any thread, each averaged into its parent, and every finished tile of every level goes to
/// `sink` exactly once, on the thread that finished it. Memory: with base tiles in Z-order, a few
/// tiles for each level, whatever the image's size.
class AverageCascade {
 public:
  using Sink = std::function<void(const CascadeTile&)>;

  /// levels: sizes, each half of the one before, rounded up. tile: edge, even.
  AverageCascade(std::vector<LevelSize> levels, std::int64_t tile, int channels,
                 device::BufferPool& buffers, Sink sink);

  /// Base tiles in Z-order, and the pixels that each covers.
  const std::vector<TileIndex>& base_tiles() const noexcept { return base_; }
  Box2 box(int level, TileIndex index) const;
  /// Takes a whole base tile.
  void deliver(TileIndex index, device::BufferPool::Lease pixels) {
    finish_tile(0, index, std::move(pixels));
  }

 private:
  struct Open {
    device::BufferPool::Lease pixels;
    int missing = 0;  ///< children that have not been averaged in
  };
  void finish_tile(int level, TileIndex index, device::BufferPool::Lease pixels);

  std::vector<LevelSize> levels_;
  std::int64_t tile_;
  int channels_;
  device::BufferPool& buffers_;
  Sink sink_;
  std::vector<TileIndex> base_;
  std::mutex mutex_;
  std::map<std::pair<int, std::uint64_t>, Open> open_;
};

}  // namespace headrace::ingest
