#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

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
  std::int64_t at = 0;  ///< row y of a slide, slice z of a volume
  std::span<const std::uint8_t> predicted, truth;
  /// (classes, pixels): the blended probabilities; 0 where there was no tile.
  std::span<const float> probabilities;
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
/// bytes for any of them.
class Stitcher {
 public:
  /// (depth, height, width) of an image
  using Extent = std::function<std::array<std::int64_t, 3>(std::uint32_t image)>;
  using Sink = std::function<void(const StitchedPart&)>;
  using Window = std::array<std::vector<float>, 3>;  ///< weights along z, y, x; none of them 0

  /// A tile has the window's edges. For slides depth is always 1.
  Stitcher(std::int64_t classes, const Window& window_zyx, Extent extent, Sink sink);

  /// Tiles come image by image, and in an image by their first axis: rows of a slide, slices of a
  /// volume. Errors: internal when they do not.
  void add(const TileResult& tile);
  /// Delivers the rest. No tiles may follow.
  void finish();

 private:
  // Internally the axis along which parts are delivered is the first of three; a slide (1, y, x) is
  // (y, 1, x).
  using Axes = std::array<std::int64_t, 3>;
  Axes turned(const Axes& zyx) const;
  void start_image(std::uint32_t image);
  void blend_row(const TileResult& tile, const Axes& in_tile, const Axes& in_image,
                 std::size_t count);
  void release(std::int64_t end);
  void release_part(std::int64_t at);
  /// Classes of the pixels [begin, end) of a part into predicted_.
  void choose_classes(const float* means, const float* weight, std::size_t begin, std::size_t end);
  std::size_t slot(std::int64_t at) const { return static_cast<std::size_t>(at % tile_[0]); }

  bool slides_;
  std::int64_t classes_;
  Axes tile_{};
  Window window_;
  Extent extent_;
  Sink sink_;
  bool open_ = false;
  std::uint32_t image_ = 0;
  Axes size_{};
  std::int64_t first_ = 0;
  std::size_t part_pixels_ = 0;
  std::vector<float> means_;    ///< (slot, class, pixel of the part)
  std::vector<float> weights_;  ///< (slot, pixel): sums over the tiles so far
  std::vector<float> parts_;    ///< for a row: the newest tile's part of its pixels' weights
  std::vector<std::uint8_t> truth_, predicted_;
  /// Of each slot the pixels [begin, end) that a tile has reached: on most slides far fewer than
  /// all.
  struct Reached {
    std::size_t begin = 0, end = 0;
  };
  std::vector<Reached> reached_;
  std::vector<float> highest_;  ///< for a part: of each pixel the largest probability so far
};

}  // namespace headrace::inference
