#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/core/class_sets.hpp"
#include "headrace/loader/plan/sample_plan.hpp"
#include "headrace/transform/tensor_format.hpp"

struct CUstream_st;  // CUDA's own name: no header of CUDA is needed here

namespace headrace::device::cuda {
struct DeviceLease;
}

namespace headrace::loader {

/// Another view of the same places (LoaderConfig::View).
struct BatchView {
  std::string name;
  std::int64_t crops = 0, height = 0, width = 0;
  std::size_t at = 0;  ///< bytes from `images` on
};

/// One batch, ready for the model. Memory belongs to the loader's ring and goes back when the Batch
/// is destroyed.
struct Batch {
  std::uint64_t epoch = 0, index = 0;  ///< batch `index` of `epoch`
  std::int64_t samples = 0, contexts = 0, height = 0, width = 0;
  std::int64_t depth = 0;     ///< 0: slides
  std::int64_t channels = 3;  ///< for volumes, as many as the run reads
  std::vector<SampleSite> sites;
  /// How the values of `images` are stored.
  transform::TensorFormat format;
  /// (samples, contexts, 3, height, width) for slides, (samples, channels, depth, height, width)
  /// for volumes; channels_last: the channels of each context are innermost.
  const void* images = nullptr;
  /// Of a run with views, all of them, the first one, too: that is `images`, with crops as contexts.
  std::vector<BatchView> views;
  const std::uint8_t* labels = nullptr;  ///< (samples[, depth], height, width); null when the plan
                                         ///< has no labels. 255: ignore
  /// The class sets that label values from the number of classes on stand for, in order.
  std::vector<ClassSet> class_sets;
  /// The GPU in whose memory both lie; -1: the host's memory.
  int device = -1;
  std::shared_ptr<void> memory;
  std::shared_ptr<device::cuda::DeviceLease> lease;  ///< for a batch on a GPU

  std::vector<std::int64_t> images_shape() const;
  std::vector<std::int64_t> images_strides() const;  ///< elements, in the order of images_shape
  std::vector<std::int64_t> labels_shape() const;
  std::size_t images_bytes() const;
  std::size_t labels_bytes() const;
  /// View i as a batch without labels or further views, in the same memory.
  Batch of_view(std::size_t i) const;
  /// The values, for callers that take only float32 in host memory, channels first. Errors:
  /// internal (another format).
  const float* floats() const;

  /// A batch on a GPU is handed over before the GPU has made it. Work that is put into `stream`, of
  /// that GPU, from now on begins when the batch is ready; null: the GPU's legacy default stream.
  /// After the Batch is destroyed, its memory is not written again before all work put into
  /// `stream` until then is done. On the host this does nothing. The stream must live longer than
  /// the Batch. All of this on any thread, whatever its current GPU. Errors: usage (a per-thread
  /// default stream), device.
  void hold(CUstream_st* stream) const;
  /// Gives the memory back now: it is written again when the work put into `stream` so far is done.
  void release_on(CUstream_st* stream);
  /// A copy in host memory, for pictures and checks; waits for it. A batch that is in host memory
  /// is returned itself.
  Batch on_host() const;
};

}  // namespace headrace::loader
