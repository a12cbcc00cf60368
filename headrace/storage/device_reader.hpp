#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "headrace/core/auto_switch.hpp"
#include "headrace/device/cuda_device.hpp"

namespace headrace::storage {

/// Reading files straight into device memory (GPUDirect Storage, by cuFile). automatic: where
/// cuFile starts and takes the files, else through pinned memory; on: an error where it does not;
/// off: through pinned memory.
using GpuDirect = AutoSwitch;

struct Cufile;
/// cuFile as `choice` wants it, null for pinned memory; how: "cuFile", or "POSIX" and why. Errors:
/// unsupported (on: no cuFile, or one that does not start).
const Cufile* cufile_for(GpuDirect choice, std::string& how);

/// Bytes of a file, and where in device memory they go.
struct DeviceRange {
  std::uint64_t offset = 0, size = 0;
  std::byte* to = nullptr;
};

/// Reads byte ranges of local files into device memory. Whether a file's bytes really bypass the
/// host is cuFile's decision (file system, driver); aligned to 4 KiB (ArrayWriter::align_chunks)
/// they may. One thread.
class DeviceReader {
 public:
  /// Errors: unsupported (on: no cuFile), device (on: cuFile does not start, with its number).
  explicit DeviceReader(GpuDirect choice);
  ~DeviceReader();
  DeviceReader(DeviceReader&&) noexcept;
  DeviceReader& operator=(DeviceReader&&) noexcept;

  /// Reads ranges of one file, after the work that is already in the stream. Copies through pinned
  /// memory are put into the stream; what cuFile reads is there when this returns. automatic: a
  /// file that cuFile does not take is read through pinned memory, and so are all later ones.
  /// Errors: io (the file; it ends before a range does), device (on: a file that cuFile does not
  /// take).
  void read(const std::string& path, std::span<const DeviceRange> ranges,
            device::cuda::Stream& stream);
  /// "cuFile", or "POSIX" and why.
  const std::string& how() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headrace::storage
