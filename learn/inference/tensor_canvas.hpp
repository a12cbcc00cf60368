#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>

#include "learn/inference/tensor_sink.hpp"

namespace headrace::inference {

/// A canvas of LibTorch's tensors, on any of its devices. Sums, products and quotients of float32
/// are operations of their own, so they are the host's canvas to the last bit; no tensor is as
/// large as an image, and nothing waits for a GPU but the sink. Only operations that LibTorch takes
/// under deterministic algorithms, and none whose order or ties are not defined.
///
/// memory  canvas_memory.hpp
class TensorCanvas : public Canvas {
 public:
  /// most_pixels: of a part of any image that will come. device: a GPU, -1: the CPU. Tiles lie
  /// there. Errors: c10::OutOfMemoryError.
  TensorCanvas(std::int64_t classes, const Window& window_zyx, std::int64_t most_pixels, int device,
               std::unique_ptr<TensorSink> sink);

  void start(std::uint32_t image, const Axes& size) override;
  void blend(std::span<const PlacedTile> tiles, std::int64_t low, std::int64_t high) override;
  void release(std::int64_t first, std::span<const Reach> parts) override;
  void finish() override { sink_->finish(); }

 private:
  void blend_parts(const PlacedTile& tile, std::int64_t low, std::int64_t high);
  /// The first of these parts that are finished together; how many.
  std::int64_t finish_some(std::int64_t first, std::span<const Reach> parts);
  void finish_parts(std::int64_t first, std::int64_t count, const Reach& reach);
  /// As many parts from `at` on as lie side by side in the ring, at most `count`.
  std::int64_t side_by_side(std::int64_t at, std::int64_t count) const;

  std::int64_t classes_;
  Axes tile_{};
  at::Device device_;
  std::unique_ptr<TensorSink> sink_;
  at::Tensor window_;                   ///< (tile parts, 1, tile rows, tile columns)
  at::Tensor means_, weights_, truth_;  ///< flat, for the largest part
  std::uint32_t image_ = 0;
  Axes size_{};
  std::int64_t pixels_ = 0;
  /// Those of the image, by part % tile: (tile parts, classes or 1, rows, columns); truth without
  /// the second axis.
  at::Tensor mean_ring_, weight_ring_, truth_ring_;
};

}  // namespace headrace::inference
