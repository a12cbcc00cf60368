#pragma once
#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace headrace::inference {

/// Counts of whole images on their way to the host. One thread.
class LateCounts {
 public:
  /// counts: one dimension, int64. Waits for nothing.
  void put(std::uint32_t image, const at::Tensor& counts);
  /// Those of an image; images are taken in the order in which they were put, and one that was not
  /// put has none: then empty. Waits for their device.
  std::vector<std::int64_t> take(std::uint32_t image);

 private:
  struct Pending {
    std::uint32_t image = 0;
    at::Tensor counts;
    std::optional<c10::Event> done;
  };
  std::deque<Pending> pending_;
};

}  // namespace headrace::inference
