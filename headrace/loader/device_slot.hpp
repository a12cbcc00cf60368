#pragma once
#include <memory>
#include <optional>
#include <string>

#include "headrace/core/threads.hpp"
#include "headrace/loader/batch_work.hpp"
#include "headrace/loader/ring_memory.hpp"
#include "headrace/zarr/device_decoder.hpp"

namespace headrace::loader::detail {

/// The resources of one place of the ring on the GPU: a stream, pinned memory that the workers
/// decode into or that encoded chunks are read into, windows on the device, and working memory of
/// decoding and transform. For each batch: begin, BatchWork::prepare, plan, the samples if any are
/// to be made, start, finish, hand_over.
class DeviceSlot {
 public:
  /// `work` is the one that will be passed to all other functions.
  DeviceSlot(const LoaderPlan& loader_plan, const RingMemory& memory, BatchWork& work);
  ~DeviceSlot();

  /// Waits until the GPU has made the batch before. Errors: device, if decoding it failed although
  /// its chunks' checksums were right.
  void begin(const BatchWork& work);
  /// Call after prepare. True: the GPU decodes the batch; false: its samples are to be made, into
  /// memory that was given to `work`. Errors: unsupported (loader.decode is gpu, and the GPU
  /// can't).
  bool plan(BatchWork& work, ThreadPool& pool);
  /// Puts copy, decoding (where the GPU does it) and transform into the stream; returns before they
  /// are done.
  void start(const BatchWork& work);
  /// Whether the batch may hold damage that only the GPU can detect: then `finish` must come before
  /// `hand_over`, and waits for the decoder.
  bool to_be_checked() const noexcept { return on_gpu_ && decoder_->to_be_checked(); }
  /// Errors: those of decoding such a batch on the CPU, the lowest sample's. If the CPU can decode
  /// the batch, it is started again from there; with loader.decode gpu it is an error instead:
  /// corrupt, with the GPU's message.
  void finish(BatchWork& work);
  /// Fills `batch`, which `work` has described, with the batch that was started.
  void hand_over(Batch& batch);

  /// Since the last call: seconds of reading straight to the GPU, and the GPU's seconds for the
  /// batches that it has made.
  struct Times {
    double read_s = 0, copy_s = 0, decode_s = 0, transform_s = 0;
  };
  Times take_times();
  /// For the batch that was started: "CPU", or the decoders; and the reason where the GPU's were
  /// asked for but not used.
  const std::string& decoded_by() const noexcept { return decoded_by_; }
  const std::string& left_to_cpu() const noexcept { return left_to_cpu_; }
  /// What read it; empty: the host, where only it was asked for.
  std::string read_by() const { return decoder_ ? decoder_->read_by() : std::string(); }

 private:
  std::byte* arena(std::size_t bytes);
  std::byte* stage();
  void fetch(zarr::BatchRead& reads, ThreadPool& pool);
  void leave_to_cpu(BatchWork& work, std::string why, ThreadPool& pool);
  void count_scratch();

  const LoaderPlan& loader_plan_;
  const device::cuda::MemoryBudget windows_budget_, scratch_budget_;
  std::shared_ptr<device::cuda::DevicePool> batches_;
  device::cuda::PinnedBuffer staged_;
  device::cuda::DeviceBuffer windows_;
  std::size_t bytes_ = 0, scratch_bytes_ = 0;
  transform::CudaScratch scratch_;
  transform::VolumeCudaScratch volume_scratch_;
  /// free_: the stream has waited for the last reader of the memory that it writes next.
  device::cuda::Event begun_{true}, copied_{true}, decoded_{true}, free_{true}, done_{true};
  std::optional<zarr::DeviceDecoder> decoder_;
  bool under_way_ = false, on_gpu_ = false;
  std::string decoded_by_ = "CPU", left_to_cpu_;
  Times times_;
  std::shared_ptr<device::cuda::DeviceLease> lease_;
  device::cuda::Stream stream_;
};

}  // namespace headrace::loader::detail
