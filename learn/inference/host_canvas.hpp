#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "headrace/core/threads.hpp"
#include "learn/inference/tile_canvas.hpp"

namespace headrace::inference {

/// A canvas in the host's memory. The sink has a part when `release` returns.
///
/// memory  parts of a tile × (classes + 1) floats and 2 bytes a pixel
class HostCanvas : public Canvas {
 public:
  /// pool: null: the calling thread does all; it must outlive this.
  HostCanvas(std::int64_t classes, const Window& window_zyx, Sink sink, ThreadPool* pool);

  void start(std::uint32_t image, const Axes& size) override;
  void blend(std::span<const PlacedTile> tiles, std::int64_t low, std::int64_t high) override;
  void release(std::int64_t first, std::span<const Reach> parts) override;

 private:
  /// A part that is not finished.
  struct Slot {
    StitchedPart part;           ///< its probabilities: means of the tiles so far
    std::vector<float> weights;  ///< of each pixel the sum over the tiles so far
  };
  void blend_part(std::span<const PlacedTile> tiles, std::int64_t at);
  void blend_row(const PlacedTile& tile, const Axes& in_image, std::span<float> shares);
  /// Gives a slot that is new, or whose part the sink took, the memory of a blank part.
  void prepare(Slot& slot) const;
  void blank(Slot& slot, const Reach& reach) const;
  void choose_classes(Slot& slot, const Reach& reach) const;
  void spread(std::size_t count, const std::function<void(std::size_t)>& body);
  Slot& slot(std::int64_t at) { return slots_[static_cast<std::size_t>(at % tile_[0])]; }

  bool slides_;
  std::int64_t classes_;
  Window window_;
  Axes tile_{};
  Sink sink_;
  ThreadPool* pool_;
  std::uint32_t image_ = 0;
  Axes size_{};
  std::size_t part_pixels_ = 0;
  std::vector<Slot> slots_;
};

}  // namespace headrace::inference
