#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace headrace::train {

/// One tile of an image: class probabilities (classes, height, width) and truth (height, width; 255
/// not annotated).
struct TileResult {
  std::uint32_t image = 0;
  std::array<std::int64_t, 2> origin_yx{};  ///< in the image, at patch mpp; may stick out of it
  const float* probabilities = nullptr;
  const std::uint8_t* truth = nullptr;  ///< null: not annotated
};

/// One finished row of an image; 255 where no tile lay (prediction) or nothing is annotated
/// (truth).
struct StitchedRow {
  std::uint32_t image = 0;
  std::int64_t y = 0;
  std::span<const std::uint8_t> predicted, truth;
};

/// Blends overlapping tiles into images, keeping only as many rows as a tile is high: memory is
/// image width × tile height × classes floats, whatever the image's height.
///
/// A tile's probabilities weigh less towards its edges: linearly over `overlap_px`, the part it
/// shares with its neighbours. The class with the largest sum wins; of equals the lower. Sums run
/// in the order of the tiles, so the same tiles give the same bytes.
class Stitcher {
 public:
  using Extent =
      std::function<std::array<std::int64_t, 2>(std::uint32_t image)>;  ///< (height, width)
  using RowSink = std::function<void(const StitchedRow&)>;

  Stitcher(std::int64_t classes, std::int64_t tile_height, std::int64_t tile_width,
           std::int64_t overlap_px, Extent extent, RowSink sink);

  /// Tiles come image by image, top rows first. Errors: internal when they do not.
  void add(const TileResult& tile);
  /// Gives out what is left. No tiles may follow.
  void finish();

 private:
  void start_image(std::uint32_t image);
  void release_rows(std::int64_t end);
  void release_row(std::int64_t y);
  std::size_t slot(std::int64_t y) const { return static_cast<std::size_t>(y % tile_height_); }

  std::int64_t classes_, tile_height_, tile_width_;
  std::vector<float> weight_y_, weight_x_;
  Extent extent_;
  RowSink sink_;
  bool open_ = false;
  std::uint32_t image_ = 0;
  std::int64_t height_ = 0, width_ = 0, first_row_ = 0;
  std::vector<float> sums_;  ///< (row slot, class, x)
  std::vector<std::uint8_t> covered_, truth_, predicted_;
};

}  // namespace headrace::train
