#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headrace/device/cuda_device.hpp"
#include "headrace/device/memory_budget.hpp"
#include "headrace/zarr/decode_plan.hpp"
#include "headrace/zarr/nvidia/jpeg_backend.hpp"

namespace headrace::zarr {

/// JPEGs decoded by nvJPEG, many at once: by the GPU's JPEG engines where it has some, else by its
/// kernels. What nvJPEG does not take, or gives wrong colours, is left to the CPU. One batch at a
/// time, of one thread at a time, and on the GPU that was current when it was made.
class JpegBatch {
 public:
  /// budget: asked for all memory that nvJPEG works in. HEADRACE_NVJPEG_BACKEND: "hardware", "gpu"
  /// or "standard" uses this back end alone, for measurements. Errors: unsupported (the library),
  /// device (none of its back ends), memory.
  explicit JpegBatch(device::cuda::MemoryBudget budget = {});
  ~JpegBatch();
  JpegBatch(const JpegBatch&) = delete;
  JpegBatch& operator=(const JpegBatch&) = delete;

  /// Puts the decoding of `segments`, all JPEGs, into the stream. unsound: which of them are
  /// damaged, and left; or empty. encoded: host memory that stays
  /// as it is until the stream is done; decoded: device memory. Returns the numbers of those that
  /// are left to the CPU, in order: what they should be decoded to is then undefined once the stream
  /// is done. Waits for the batch before, between grey and coloured JPEGs, and at the first JPEG of
  /// a kind (JpegBackend::shows). Damage of the data may go unnoticed, as nvJPEG reports none that
  /// its GPU's part meets. Errors: memory (the budget too), device.
  std::vector<std::size_t> start(std::span<const DecodePlan::Segment> segments,
                                 std::span<const char> unsound, const std::byte* encoded,
                                 std::byte* decoded, device::cuda::Stream& stream);
  /// Why the last batch left some to the CPU: nvJPEG's reason for the first of them; else empty.
  const std::string& why_left() const noexcept { return why_left_; }
  /// "nvJPEG (hardware)".
  const std::string& name() const noexcept { return name_; }

 private:
  struct Job;
  void sort_out(std::span<const DecodePlan::Segment> segments, std::span<const char> unsound,
                const std::byte* encoded, std::vector<Job>& jobs);
  void restate(std::vector<Job>& jobs);
  void leave(Job& job, const std::string& why);
  void start_group(std::vector<Job>& jobs, std::span<const DecodePlan::Segment> segments, bool grey,
                   std::byte* decoded, device::cuda::Stream& stream);
  void wait_for_last() noexcept;

  std::unique_ptr<JpegBackend> backend_;
  std::string name_, why_left_;
  device::cuda::PinnedBuffer restated_;  ///< JPEGs with a marker for their colours
  device::cuda::Event done_;             ///< the back end's memory, and `restated_`, are free
};

}  // namespace headrace::zarr
