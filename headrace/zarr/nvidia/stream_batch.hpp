#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "headrace/device/memory_budget.hpp"
#include "headrace/zarr/decode_plan.hpp"
#include "headrace/zarr/nvidia/nvcomp.hpp"

namespace headrace::zarr {

/// zstd and LZ4 streams decompressed by nvCOMP, many at once. One batch at a time.
class StreamBatch {
 public:
  /// The most bytes that one call decodes, since nvCOMP's scratch is about 3.3 times the output.
  static constexpr std::uint64_t kMostDecodedBytes = 128 << 20;

  /// Errors: unsupported (the library; a version that requires aligned streams).
  explicit StreamBatch(std::uint64_t most_decoded_bytes = kMostDecodedBytes,
                       device::cuda::MemoryBudget budget = {});

  /// Puts the decompression of `segments`, zstd before LZ4, into the stream. Both buffers are
  /// device memory. Errors: device.
  void start(std::span<const DecodePlan::Segment> segments, const std::byte* encoded,
             std::byte* decoded, device::cuda::Stream& stream);
  /// When the stream is done: a segment of the lowest chunk that could not be decompressed, with
  /// why; null when all could.
  const DecodePlan::Segment* failed(std::span<const DecodePlan::Segment> segments,
                                    std::string& problem) const;

 private:
  template <typename Options>
  void start_codec(const Nvcomp::Codec<Options>& codec, const char* name,
                   std::span<const DecodePlan::Segment> segments, std::size_t first,
                   device::cuda::Stream& stream);

  const Nvcomp& nvcomp_;
  std::uint64_t most_decoded_bytes_;
  device::cuda::MemoryBudget budget_;
  // Tables, one after the other: packed, decoded; their sizes; and what the GPU writes, which are
  // resulting sizes and statuses.
  device::cuda::PinnedBuffer host_, results_;
  device::cuda::DeviceBuffer tables_, scratch_;
  std::size_t count_ = 0;
};

}  // namespace headrace::zarr
