#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "headrace/storage/device_reader.hpp"

namespace headrace::storage {

/// Writes device memory into local files: by cuFile, or through pinned memory. See DeviceReader for
/// the choice between the two. One thread.
class DeviceWriter {
 public:
  /// Errors: unsupported (on: no cuFile), device (on: cuFile does not start, with its number).
  explicit DeviceWriter(GpuDirect choice);
  ~DeviceWriter();
  DeviceWriter(DeviceWriter&&) noexcept;
  DeviceWriter& operator=(DeviceWriter&&) noexcept;

  /// Writes the first `size` bytes of an existing file, after the work that is already in the
  /// stream; they are written when it returns, but not synced. automatic: a file that cuFile does
  /// not take goes through pinned memory, and so do all later ones.
  /// Errors: io (the file; a full disk is named), device (on: a file that cuFile does not take).
  void write(const std::string& path, const std::byte* from, std::uint64_t size,
             device::cuda::Stream& stream);
  /// "cuFile", or "POSIX" and why.
  const std::string& how() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headrace::storage
