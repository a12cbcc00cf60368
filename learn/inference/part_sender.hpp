#pragma once
#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "learn/inference/late_parts.hpp"
#include "learn/inference/tensor_sink.hpp"
#include "learn/inference/volume/tensor_grid.hpp"

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

/// Takes finished parts to level 0 where that is asked for, chooses their classes, lets somebody
/// look at them, and sends the host what it gets (LateParts).
///
/// memory  what finishing kAtOnce pixels takes; TensorGrid; LateParts
class PartSender : public TensorSink {
 public:
  PartSender(PartUse use, Canvas::Sink sink) : use_(std::move(use)), late_(std::move(sink)) {}

  bool takes_whole() const override { return static_cast<bool>(use_.level0); }
  void take(const TensorParts& parts) override;
  void deliver() override { late_.deliver(); }
  void finish() override { late_.finish(); }

 private:
  void start_grid(const TensorParts& parts);
  void add_to_grid(const TensorParts& parts);
  /// Pixels from `begin` on, of `pixels`.
  void send(PartTensors parts, std::size_t pixels, std::size_t begin);
  LateParts::Parts late_parts(std::uint32_t image, std::int64_t first, std::int64_t classes,
                              std::size_t pixels) const;

  PartUse use_;
  LateParts late_;
  std::optional<TensorGrid> grid_;  ///< of the volume, if it is taken to level 0
};

}  // namespace headrace::inference
