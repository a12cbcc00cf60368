#pragma once
#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "learn/inference/tile_canvas.hpp"

namespace headrace::inference {

/// Finished parts on their way from the model's device to a sink. Putting them waits for nothing: on
/// a GPU they are copied into page-locked memory behind the work that makes them, in LibTorch's
/// current stream. The sink gets them in the order in which they were put, when they are there; or
/// when more than most_bytes are under way, and then the oldest are waited for. On a CPU always as late as
/// that, so that tests see late parts. One thread.
///
/// memory  most_bytes of page-locked memory, and what was put last
class LateParts {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{128} << 20;

  explicit LateParts(Canvas::Sink sink, std::size_t most_bytes = kMostBytes)
      : sink_(std::move(sink)), most_bytes_(most_bytes) {}

  /// Parts that follow one another, all of them covered or none; tensors are undefined where there
  /// is nothing of the kind, and hold pixels [begin, begin + their last extent) of each part.
  struct Parts {
    std::uint32_t image = 0;
    std::int64_t first = 0, count = 0;
    std::size_t pixels = 0;  ///< of a whole part
    bool covered = false;
    std::size_t begin = 0;
    /// Rows a pixel has in `probabilities` and `scores` of every part; 0: the part has none.
    std::size_t probability_rows = 0, score_rows = 0;
    at::Tensor predicted = {}, truth = {};  ///< (count, n) uint8
    at::Tensor probabilities = {};          ///< (count, probability_rows, n) float32
    at::Tensor scores = {};                 ///< (count, score_rows, n) uint8
  };
  void put(Parts parts);
  /// The sink gets what is there.
  void deliver();
  /// The sink gets all. Errors: those of the device's work.
  void finish();

 private:
  struct Pending {
    Parts parts;
    std::optional<c10::Event> done;
    std::size_t bytes = 0;
  };
  void give_oldest();

  Canvas::Sink sink_;
  std::size_t most_bytes_;
  std::deque<Pending> pending_;
  std::size_t bytes_ = 0;
};

}  // namespace headrace::inference
