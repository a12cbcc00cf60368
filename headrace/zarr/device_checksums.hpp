#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "headrace/device/memory_budget.hpp"
#include "headrace/zarr/decode_plan.hpp"

namespace headrace::zarr {

/// The crc32c of chunks that lie only in device memory, by a kernel over pieces of all of them. One
/// batch at a time.
class DeviceChecksums {
 public:
  explicit DeviceChecksums(device::cuda::MemoryBudget budget = {}) : budget_(std::move(budget)) {}

  /// Puts the checks into the stream. Errors: memory, device.
  void start(std::span<const DecodePlan::Check> checks, const std::byte* encoded,
             device::cuda::Stream& stream);
  /// When the stream is done: the first chunk whose stored checksum differs from that of its bytes,
  /// with both; null when all are right.
  const DecodePlan::Check* failed(std::span<const DecodePlan::Check> checks,
                                  std::string& problem) const;

 private:
  // Pieces, and the results: a share of each piece, then the four stored bytes of each chunk.
  device::cuda::PinnedBuffer pieces_, results_;
  device::cuda::DeviceBuffer device_pieces_, device_results_;
  device::cuda::MemoryBudget budget_;
};

}  // namespace headrace::zarr
