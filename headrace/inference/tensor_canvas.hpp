#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "headrace/inference/late_parts.hpp"
#include "headrace/inference/volume/tensor_grid.hpp"

namespace headrace::inference {

/// Finished parts that follow one another, or the columns of them that tiles reached, where the
/// model is. Valid during the call that gets them; what is made of them may be kept.
struct PartTensors {
  std::uint32_t image = 0;
  std::int64_t first = 0;  ///< row y of a slide, slice z of a volume
  at::Tensor means;        ///< (parts, classes, pixels) float32; 0 where there was no tile
  at::Tensor predicted;    ///< (parts, pixels) uint8; 255 where there was no tile
  at::Tensor truth;  ///< (parts, pixels) uint8; 255 where nothing is annotated; not of level 0
  at::Tensor scores = {};  ///< (parts, PartUse::score_rows, pixels) uint8: what `look` made
};

/// What the host gets of finished parts besides their classes, and what becomes of them before.
struct PartUse {
  bool truth = false;
  bool probabilities = false;
  std::size_t score_rows = 0;
  /// Sees all parts that a tile reached, in order, before the sink has them. It may give them
  /// scores, and the truth of level 0; what it leaves undefined is 0, and 255. Empty: nobody looks.
  std::function<void(PartTensors&)> look = {};
  /// For volumes that are taken to their own grid: that of an image. Parts are then slices of level
  /// 0, all of them, and every voxel has a class. Empty: parts are what was blended.
  std::function<Level0(std::uint32_t image)> level0 = {};
};

/// A canvas of LibTorch's tensors, on any of its devices. Sums, products and quotients of float32
/// are operations of their own, so they are the host's canvas to the last bit; no tensor is as
/// large as an image, and nothing waits for a GPU but the sink's parts (LateParts). Only operations
/// that LibTorch takes under deterministic algorithms, and none whose order or ties are not
/// defined.
///
/// memory  parts of a tile × most_pixels × (classes + 1) floats and a byte, for the whole of its
///         life; what finishing kAtOnce pixels and blending a tile take; TensorGrid; LateParts
class TensorCanvas : public Canvas {
 public:
  static constexpr std::int64_t kAtOnce =
      1 << 20;  ///< pixels that are finished together, if a part has fewer

  /// most_pixels: of a part of any image that will come. device: a GPU, -1: the CPU. `tiles` lie
  /// there. widest: with use.level0 the widest_slice of any image.
  /// Errors: c10::OutOfMemoryError, here alone: what will be needed is taken once.
  TensorCanvas(std::int64_t classes, const Window& window_zyx, std::int64_t most_pixels, int device,
               PartUse use, Sink sink, std::int64_t widest = 0);

  void start(std::uint32_t image, const Axes& size) override;
  void blend(std::span<const PlacedTile> tiles, std::int64_t low, std::int64_t high) override;
  void release(std::int64_t first, std::span<const Reach> parts) override;
  void finish() override { late_.finish(); }

 private:
  void blend_parts(const PlacedTile& tile, std::int64_t low, std::int64_t high);
  void finish_parts(std::int64_t first, std::span<const Reach> parts);
  /// Takes parts [first, end) to level 0.
  void resample(std::int64_t first, std::int64_t end);
  /// Lets `look` see parts, and sends the host what it gets: pixels from `begin` on, of `pixels`.
  void send(PartTensors parts, std::size_t pixels, std::size_t begin);
  void start_grid(const Axes& size);
  /// As many parts from `at` on as lie side by side in the ring, at most `count`.
  std::int64_t side_by_side(std::int64_t at, std::int64_t count) const;
  LateParts::Parts parts_from(std::int64_t first, std::int64_t count, std::size_t pixels,
                              bool covered) const;

  std::int64_t classes_;
  Axes tile_{};
  at::Device device_;
  PartUse use_;
  LateParts late_;
  at::Tensor window_;                   ///< (tile parts, 1, tile rows, tile columns)
  at::Tensor means_, weights_, truth_;  ///< flat, for the largest part
  std::uint32_t image_ = 0;
  Axes size_{};
  std::int64_t pixels_ = 0;
  /// Those of the image, by part % tile: (tile parts, classes or 1, rows, columns); truth without
  /// the second axis.
  at::Tensor mean_ring_, weight_ring_, truth_ring_;
  std::optional<TensorGrid> grid_;  ///< of the volume, if it is taken to level 0
};

/// Bytes that a TensorCanvas takes on its device. widest: 0: nothing is taken to level 0.
double tensor_canvas_bytes(std::int64_t classes, const Canvas::Window& window_zyx,
                           std::int64_t most_pixels, std::int64_t widest = 0);

}  // namespace headrace::inference
