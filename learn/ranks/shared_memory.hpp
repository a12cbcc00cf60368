#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace headrace::ranks {

/// Memory that several processes see. It has no name in any file system (memfd) and is gone with
/// the last of them. Movable.
class SharedMemory {
 public:
  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(SharedMemory&& o) noexcept
      : data_(std::exchange(o.data_, nullptr)),
        size_(std::exchange(o.size_, 0)),
        fd_(std::exchange(o.fd_, -1)) {}
  SharedMemory& operator=(SharedMemory&& o) noexcept;

  /// New memory, zeroed; all of it is reserved at once, so that none is missing later. Errors:
  /// memory.
  static SharedMemory create(std::size_t bytes);
  /// Another process's, while that keeps its handle open. Errors: io.
  static SharedMemory open(const std::string& handle, std::size_t bytes);

  /// The path by which processes of this machine and user can open it.
  std::string handle() const;
  /// Closes the handle: no further process can open it.
  void close_handle() noexcept;
  std::span<std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  void map(int fd, std::size_t bytes);

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  int fd_ = -1;
};

}  // namespace headrace::ranks
