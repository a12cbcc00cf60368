#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "headrace/core/geometry.hpp"
#include "learn/process/accelerator.hpp"
#include "learn/process/operation.hpp"
#include "learn/process/tile_runner.hpp"
#include "learn/process/tilewise_plan.hpp"

namespace headrace::process {

/// Results of a region in host memory, which is given back when `memory` is released.
struct RegionResult {
  ResultView view;
  std::shared_ptr<void> memory;
};

/// Processes the regions of a tilewise run: on a CPU, or on an accelerator.
class Regions {
 public:
  virtual ~Regions() = default;
  /// Host memory for the ring of decoded rows, of at least that size. Its contents are lost.
  virtual std::uint8_t* ring(std::size_t size_bytes) = 0;
  /// Processes the pixels of `box`, at most a region's. `source`: a ring of this object that holds
  /// them and their halo, all columns of the ring beginning at source.x0. interleaved: the layout
  /// of the result. Safe from any thread.
  virtual RegionResult run(const SourceView& source, const Box2& box, bool interleaved) = 0;
};

/// On the calling thread.
std::unique_ptr<Regions> cpu_regions(const Operation& operation, const TilewisePlan& plan);

/// On an accelerator: the region with its halo is copied there, processed in one go, and copied
/// back, while other threads decode or process their regions. At most `device_bytes` of its memory
/// are taken; a thread that finds none waits for another thread. Errors: memory (states how much
/// one region needs).
std::unique_ptr<Regions> accelerated_regions(const Operation& operation, const TilewisePlan& plan,
                                             const ImageInfo& info, Accelerator& accelerator,
                                             std::uint64_t device_bytes);

std::size_t result_bytes(const Operation& operation, std::int64_t height, std::int64_t width);
/// Memory of height × width results; the first one belongs to the box's first pixel.
ResultView result_view(std::uint8_t* data, const Operation& operation, const Box2& box,
                       std::int64_t height, std::int64_t width, bool interleaved);

}  // namespace headrace::process
