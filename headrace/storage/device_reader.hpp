#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

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
/// What is read of one file.
struct DeviceFile {
  std::string path;
  std::vector<DeviceRange> ranges;
};

/// Reads byte ranges of local files into device memory. Whether a file's bytes really bypass the
/// host is cuFile's decision (file system, driver); aligned to 4 KiB (ArrayWriter::align_chunks)
/// they may. One thread; cuFile's reads of a call are made by 8 threads at once, and files stay
/// registered with it between calls (CufileFiles).
class DeviceReader {
 public:
  /// Errors: unsupported (on: no cuFile), device (on: cuFile does not start, with its number).
  explicit DeviceReader(GpuDirect choice);
  ~DeviceReader();
  DeviceReader(DeviceReader&&) noexcept;
  DeviceReader& operator=(DeviceReader&&) noexcept;

  /// Reads ranges of files, after the work that is already in the stream, into memory of the calling
  /// thread's GPU. Copies through pinned memory are put into the stream; what cuFile reads is there
  /// when this returns. automatic: with the first file that cuFile does not take, the whole call and
  /// all later ones go through pinned memory. No read is under way any more where it fails. Errors:
  /// io (names the first file and range that fail; it ends before a range does), device (on: a file
  /// that cuFile does not take).
  void read(std::span<const DeviceFile> files, device::cuda::Stream& stream);
  void read(const std::string& path, std::span<const DeviceRange> ranges,
            device::cuda::Stream& stream);
  /// "cuFile", or "POSIX" and why.
  const std::string& how() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headrace::storage
