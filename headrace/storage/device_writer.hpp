#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "headrace/storage/device_reader.hpp"

namespace headrace::storage {

/// Writes device memory into local files: by cuFile, or through pinned memory. What DeviceReader
/// says of the two holds here. One thread.
class DeviceWriter {
 public:
  /// Errors: unsupported (on: no cuFile), device (on: cuFile does not start, with its number).
  explicit DeviceWriter(GpuDirect choice);
  ~DeviceWriter();
  DeviceWriter(DeviceWriter&&) noexcept;
  DeviceWriter& operator=(DeviceWriter&&) noexcept;

  /// Writes the first `size` bytes of a file that is there, after what was put into the stream
  /// before; they are written when it returns, not synced. automatic: a file that cuFile does not
  /// take goes through pinned memory, and so does all after it.
  /// Errors: io (the file; a full disk says so), device (on: a file that cuFile does not take).
  void write(const std::string& path, const std::byte* from, std::uint64_t size,
             device::cuda::Stream& stream);
  /// "cuFile", or "POSIX" and why.
  const std::string& how() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headrace::storage
