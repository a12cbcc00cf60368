#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace headrace::inference {

/// A finished part of an image: a row of a slide, a slice of a volume. 255 where there was no tile
/// (prediction) or no annotation (truth).
struct StitchedPart {
  std::uint32_t image = 0;
  std::int64_t at = 0;   ///< row y of a slide, slice z of a volume
  bool covered = false;  ///< whether there was a tile at all
  std::vector<std::uint8_t> predicted, truth;
  /// (classes, pixels): the blended probabilities; 0 where there was no tile.
  std::vector<float> probabilities;
  /// (rows, pixels): what a tensor canvas made of them in their place; 0 where there was no tile.
  std::vector<std::uint8_t> scores;
};

/// A tile in the axes of a canvas: parts of an image come first. A slide (1, y, x) is (y, 1, x), a
/// volume (z, y, x) itself.
struct PlacedTile {
  using Axes = std::array<std::int64_t, 3>;
  Axes origin{};                         ///< in the image; may lie outside of it
  Axes begin{}, end{};                   ///< [begin, end): what it covers of the image, not empty
  const float* probabilities = nullptr;  ///< (classes, tile), in the canvas's memory
  const std::uint8_t* truth = nullptr;   ///< (tile), likewise; null: not annotated
};

/// The pixels [begin, end) of an unfinished part that a tile has reached: on most slides far fewer
/// than all.
struct Reach {
  std::size_t begin = 0, end = 0;
  bool covered() const noexcept { return end > 0; }
};

/// The parts of an image that tiles still reach, as many as a tile has, and their arithmetic
/// (stitcher.hpp has the formula); which tile comes when, and when a part is finished, is the
/// Stitcher's. Canvases differ in where their memory lies, not in a bit of what they give.
class Canvas {
 public:
  using Axes = PlacedTile::Axes;
  /// Parts come in order. A sink may move from the vectors of a part.
  using Sink = std::function<void(StitchedPart& part)>;
  using Window = std::array<std::vector<float>, 3>;  ///< weights along z, y, x; none of them 0

  virtual ~Canvas() = default;

  /// A new image: (parts, rows, columns). All parts of the last one were released.
  virtual void start(std::uint32_t image, const Axes& size) = 0;
  /// Blends parts [low, high) of tiles, one tile after the other.
  virtual void blend(std::span<const PlacedTile> tiles, std::int64_t low, std::int64_t high) = 0;
  /// Finishes parts from `first` on, one a reach; their place is free afterwards. The sink gets them
  /// in this order, now or later.
  virtual void release(std::int64_t first, std::span<const Reach> parts) = 0;
  /// The sink has all parts when this returns.
  virtual void finish() {}
};

/// The window along a canvas's axes: parts first.
inline Canvas::Window turned(Canvas::Window window_zyx) {
  if (window_zyx[0].size() == 1) std::swap(window_zyx[0], window_zyx[1]);
  return window_zyx;
}

}  // namespace headrace::inference
