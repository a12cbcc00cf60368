#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "headrace/core/threads.hpp"
#include "learn/inference/tile_canvas.hpp"

namespace headrace::inference {

/// One tile of an image: class probabilities (classes, depth, height, width) and truth (depth,
/// height, width; 255 not annotated), in the memory of the canvas. A tile of a slide has depth 1.
struct TileResult {
  std::uint32_t image = 0;
  std::array<std::int64_t, 3> origin_zyx{};  ///< in the image, in patch pixels; may stick out of it
  const float* probabilities = nullptr;
  const std::uint8_t* truth = nullptr;  ///< null: not annotated
};

/// Blends overlapping tiles into images and keeps only the extent of a tile along the first axis:
/// for slides image width × tile height × (classes + 1) floats, for volumes image slice × tile
/// depth × (classes + 1) floats, whatever the image's extent. They lie in a canvas (tile_canvas.hpp), in
/// the host's memory or where the model is.
///
/// A pixel's probabilities are the mean of those of its tiles, weighted by its place in them
/// (window.hpp); the class with the largest wins, the lower of equals. It is a running mean: each
/// tile moves it by (its weight / the weights so far) · (its probability - the mean), in float32.
/// So a value on which all tiles agree is kept to the last bit, and a single tile's values do not
/// change.
/// Tiles count in the order in which they are added, and in evaluation that is the plan's (image,
/// then z, y, x of the corner), whatever the batch size, the threads and the processes: the same
/// bytes for any of them. One thread calls it.
class Stitcher {
 public:
  /// (depth, height, width) of an image
  using Extent = std::function<std::array<std::int64_t, 3>(std::uint32_t image)>;
  using Sink = Canvas::Sink;
  using Window = Canvas::Window;

  /// A tile has the window's edges. For slides depth is always 1.
  Stitcher(const Window& window_zyx, Extent extent, std::unique_ptr<Canvas> canvas);
  /// In the host's memory. pool: null: the calling thread does all; it must outlive this.
  Stitcher(std::int64_t classes, const Window& window_zyx, Extent extent, Sink sink,
           ThreadPool* pool = nullptr);

  /// Tiles come image by image, and in an image by their first axis: rows of a slide, slices of a
  /// volume. Many at once are blended in parallel. Errors: internal when they come otherwise.
  void add(std::span<const TileResult> tiles);
  void add(const TileResult& tile) { add({&tile, 1}); }
  /// Delivers the rest. No tiles may follow.
  void finish();

 private:
  using Axes = Canvas::Axes;
  Axes turned(const Axes& zyx) const;
  void start_image(std::uint32_t image);
  /// The tiles of the front that lie side by side: of one image, and with the same first parts.
  std::span<const TileResult> side_by_side(std::span<const TileResult> tiles) const;
  /// Those of them that touch the image, into placed_.
  void place(std::span<const TileResult> tiles);
  void reach(std::int64_t low, std::int64_t high);
  void release(std::int64_t end);

  bool slides_;
  Axes tile_{};
  Extent extent_;
  std::unique_ptr<Canvas> canvas_;
  bool open_ = false;
  std::uint32_t image_ = 0;
  Axes size_{};
  std::int64_t first_ = 0;    ///< part that is not released
  std::vector<Reach> reach_;  ///< of the parts that are not, part % tile
  std::vector<PlacedTile> placed_;
};

}  // namespace headrace::inference
