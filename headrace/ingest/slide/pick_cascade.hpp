#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "headrace/ingest/slide/cascade.hpp"

namespace headrace::ingest {

/// Row or column of level 0 that represents row or column `i` of level `k`: the one at its centre,
/// min(i · 2^k + 2^(k-1), size - 1), and i itself at level 0.
std::int64_t centre_pick(std::int64_t i, int k, std::int64_t level0_size);

/// The pyramid of a label image: values are never computed; each pixel of level k is the level-0
/// value under its centre. Works like AverageCascade (one channel), but every level picks from
/// level 0.
class PickCascade {
 public:
  using Sink = AverageCascade::Sink;

  PickCascade(std::vector<LevelSize> levels, std::int64_t tile, device::BufferPool& buffers,
              Sink sink);

  const std::vector<TileIndex>& base_tiles() const noexcept { return base_; }
  Box2 box(int level, TileIndex index) const;
  void deliver(TileIndex index, device::BufferPool::Lease pixels);

 private:
  struct Open {
    device::BufferPool::Lease pixels;
    std::int64_t missing = 0;  ///< base tiles that have not been picked from
  };
  void pick(int level, TileIndex base, const std::uint8_t* pixels);
  std::int64_t base_tiles_under(int level, TileIndex index) const;

  std::vector<LevelSize> levels_;
  std::int64_t tile_;
  device::BufferPool& buffers_;
  Sink sink_;
  std::int64_t count_y_, count_x_;
  std::vector<TileIndex> base_;
  std::mutex mutex_;
  std::map<std::pair<int, std::uint64_t>, Open> open_;
};

}  // namespace headrace::ingest
