#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace headrace::train {

/// One tile of an image: class probabilities (classes, depth, height, width) and truth (depth,
/// height, width; 255 not annotated). A tile of a slide has depth 1.
struct TileResult {
  std::uint32_t image = 0;
  std::array<std::int64_t, 3> origin_zyx{};  ///< in the image, in patch pixels; may stick out of it
  const float* probabilities = nullptr;
  const std::uint8_t* truth = nullptr;  ///< null: not annotated
};

/// A finished part of an image: a row of a slide, a slice of a volume. 255 where no tile lay
/// (prediction) or nothing is annotated (truth).
struct StitchedPart {
  std::uint32_t image = 0;
  std::int64_t at = 0;  ///< row y of a slide, slice z of a volume
  std::span<const std::uint8_t> predicted, truth;
  /// (classes, pixels): weighted sums of the tiles' probabilities; their ratio is the blended
  /// probability. 0 where no tile lay.
  std::span<const float> sums;
};

/// Blends overlapping tiles into images, keeping only as much along the first axis as a tile has:
/// of slides image width × tile height × classes floats, of volumes image slice × tile depth ×
/// classes floats, whatever the length of the rest.
///
/// A tile's probabilities weigh less towards its edges: linearly over `overlap`, the part it shares
/// with its neighbours, axis by axis. The class with the largest sum wins; of equals the lower.
/// Sums run in the order of the tiles, so the same tiles give the same bytes.
class Stitcher {
 public:
  using Extent =
      std::function<std::array<std::int64_t, 3>(std::uint32_t image)>;  ///< (depth, height, width)
  using Sink = std::function<void(const StitchedPart&)>;

  /// Of slides depth is 1 throughout.
  Stitcher(std::int64_t classes, const std::array<std::int64_t, 3>& tile_zyx,
           const std::array<std::int64_t, 3>& overlap_zyx, Extent extent, Sink sink);

  /// Tiles come image by image, and in an image by their first axis: rows of a slide, slices of a
  /// volume. Errors: internal when they do not.
  void add(const TileResult& tile);
  /// Gives out what is left. No tiles may follow.
  void finish();

 private:
  // Inside, the axis along which parts leave is the first of three; a slide (1, y, x) is (y, 1, x).
  using Axes = std::array<std::int64_t, 3>;
  Axes turned(const Axes& zyx) const;
  void start_image(std::uint32_t image);
  void blend_row(const TileResult& tile, const Axes& in_tile, const Axes& in_image,
                 std::size_t count);
  void release(std::int64_t end);
  void release_part(std::int64_t at);
  std::size_t slot(std::int64_t at) const { return static_cast<std::size_t>(at % tile_[0]); }

  bool slides_;
  std::int64_t classes_;
  Axes tile_;
  std::array<std::vector<float>, 3> weights_;
  Extent extent_;
  Sink sink_;
  bool open_ = false;
  std::uint32_t image_ = 0;
  Axes size_{};
  std::int64_t first_ = 0;
  std::size_t part_pixels_ = 0;
  std::vector<float> sums_;  ///< (slot, class, pixel of the part)
  std::vector<std::uint8_t> covered_, truth_, predicted_;
};

}  // namespace headrace::train
