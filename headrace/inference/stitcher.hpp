#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "headrace/core/threads.hpp"

namespace headrace::inference {

/// One tile of an image: class probabilities (classes, depth, height, width) and truth (depth,
/// height, width; 255 not annotated). A tile of a slide has depth 1.
struct TileResult {
  std::uint32_t image = 0;
  std::array<std::int64_t, 3> origin_zyx{};  ///< in the image, in patch pixels; may stick out of it
  const float* probabilities = nullptr;
  const std::uint8_t* truth = nullptr;  ///< null: not annotated
};

/// A finished part of an image: a row of a slide, a slice of a volume. 255 where there was no tile
/// (prediction) or no annotation (truth).
struct StitchedPart {
  std::uint32_t image = 0;
  std::int64_t at = 0;   ///< row y of a slide, slice z of a volume
  bool covered = false;  ///< whether there was a tile at all
  std::vector<std::uint8_t> predicted, truth;
  /// (classes, pixels): the blended probabilities; 0 where there was no tile.
  std::vector<float> probabilities;
};

/// Blends overlapping tiles into images and keeps only the extent of a tile along the first axis:
/// for slides image width × tile height × (classes + 1) floats, for volumes image slice × tile
/// depth × (classes + 1) floats, whatever the image's extent.
///
/// A pixel's probabilities are the mean of those of its tiles, weighted by its place in them
/// (window.hpp); the class with the largest wins, the lower of equals. It is a running mean: each
/// tile moves it by (its weight / the weights so far) · (its probability - the mean), in float32.
/// So a value on which all tiles agree is kept to the last bit, and a single tile's values do not
/// change.
/// Tiles count in the order in which they are added, and in evaluation that is the plan's (image,
/// then z, y, x of the corner), whatever the batch size, the threads and the processes: the same
/// bytes for any of them. One thread calls it; its work is spread over a pool.
class Stitcher {
 public:
  /// (depth, height, width) of an image
  using Extent = std::function<std::array<std::int64_t, 3>(std::uint32_t image)>;
  /// Parts come in order. A sink may move from the vectors of a part.
  using Sink = std::function<void(StitchedPart& part)>;
  using Window = std::array<std::vector<float>, 3>;  ///< weights along z, y, x; none of them 0

  /// A tile has the window's edges. For slides depth is always 1. pool: null: the calling thread
  /// does all; it must outlive this.
  Stitcher(std::int64_t classes, const Window& window_zyx, Extent extent, Sink sink,
           ThreadPool* pool = nullptr);

  /// Tiles come image by image, and in an image by their first axis: rows of a slide, slices of a
  /// volume. Many at once are blended in parallel. Errors: internal when they come otherwise.
  void add(std::span<const TileResult> tiles);
  void add(const TileResult& tile) { add({&tile, 1}); }
  /// Delivers the rest. No tiles may follow.
  void finish();

 private:
  // Internally the axis along which parts are delivered is the first of three; a slide (1, y, x) is
  // (y, 1, x).
  using Axes = std::array<std::int64_t, 3>;
  /// A part that is not finished.
  struct Slot {
    StitchedPart part;           ///< its probabilities: means of the tiles so far
    std::vector<float> weights;  ///< of each pixel the sum over the tiles so far
    /// The pixels [begin, end) that a tile has reached: on most slides far fewer than all.
    std::size_t begin = 0, end = 0;
  };
  Axes turned(const Axes& zyx) const;
  void start_image(std::uint32_t image);
  /// The tiles of the front that lie side by side: of one image, and with the same first parts.
  std::span<const TileResult> side_by_side(std::span<const TileResult> tiles) const;
  void blend(std::span<const TileResult> tiles, std::int64_t at);
  void blend_row(const TileResult& tile, const Axes& in_tile, const Axes& in_image,
                 std::span<float> shares);
  void release(std::int64_t end);
  /// Gives a slot that is new, or whose part the sink took, the memory of a blank part.
  void prepare(Slot& slot) const;
  void blank(Slot& slot) const;
  void choose_classes(Slot& slot) const;
  void spread(std::size_t count, const std::function<void(std::size_t)>& body);
  Slot& slot(std::int64_t at) { return slots_[static_cast<std::size_t>(at % tile_[0])]; }

  bool slides_;
  std::int64_t classes_;
  Axes tile_{};
  Window window_;
  Extent extent_;
  Sink sink_;
  ThreadPool* pool_;
  bool open_ = false;
  std::uint32_t image_ = 0;
  Axes size_{};
  std::int64_t first_ = 0;
  std::size_t part_pixels_ = 0;
  std::vector<Slot> slots_;
};

}  // namespace headrace::inference
