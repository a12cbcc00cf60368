#pragma once
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace headrace::storage {

/// The threads of a disk cache. Reads go first; writes wait, up to a number of bytes. Safe from any
/// thread. To be destroyed never: the threads go on until the process ends.
class DiskCacheWork {
 public:
  /// Errors: memory (not even one thread can be started).
  DiskCacheWork();

  /// The work must not throw.
  void read(std::function<void()> work);
  /// False where too many bytes wait already: then it is not done.
  bool write(std::size_t bytes, std::function<void()> work);
  /// Waits until all writes are done, or that long.
  void drain(std::chrono::milliseconds most);

 private:
  struct Queue;
  std::shared_ptr<Queue> queue_;
};

}  // namespace headrace::storage
