#pragma once
#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>

#include "learn/inference/tile_canvas.hpp"

namespace headrace::inference {

/// Finished parts that follow one another, all of them reached by a tile or none, where the model
/// is. They are valid during the call that gets them.
struct TensorParts {
  std::uint32_t image = 0;
  Canvas::Axes size{};                ///< of the image: (parts, rows, columns)
  std::int64_t first = 0, count = 0;  ///< rows y of a slide, slices z of a volume
  std::int64_t classes = 0;
  at::Device device{at::kCPU};
  std::size_t begin = 0;  ///< of a part's pixels, the first of the n that are here
  /// Undefined where no tile reached the parts, which may then be as many as a tile has.
  at::Tensor means = {};    ///< (count, classes, n) float32; 0 where there was no tile
  at::Tensor reached = {};  ///< (count, n) bool: whether there was a tile
  at::Tensor truth = {};  ///< (count, n) uint8; 255 where nothing is annotated; not of whole parts
};

/// What becomes of the parts that a TensorCanvas has finished. Waits for nothing but what `deliver`
/// and `finish` say.
class TensorSink {
 public:
  /// Pixels that are worked on together, if a part has fewer.
  static constexpr std::int64_t kAtOnce = 1 << 20;

  virtual ~TensorSink() = default;
  /// Whether parts that a tile reached have all of their pixels.
  virtual bool takes_whole() const = 0;
  /// The next parts: image by image, of each from 0 on; at most kAtOnce pixels, or one part.
  virtual void take(const TensorParts& parts) = 0;
  /// Hands on what has arrived on the host.
  virtual void deliver() = 0;
  /// No more parts follow: hands on all.
  virtual void finish() = 0;
};

}  // namespace headrace::inference
