#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace headrace::ingest {

/// Memory for reuse: the first touch of a page costs more than filling it. Contents are not
/// cleared. Safe from any thread.
class BufferPool {
 public:
  /// Free buffers beyond `keep_bytes` are returned to the system.
  explicit BufferPool(std::size_t keep_bytes) : keep_bytes_(keep_bytes) {}

  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept { *this = std::move(other); }
    Lease& operator=(Lease&& other) noexcept;
    ~Lease() { release(); }
    std::uint8_t* data() const noexcept { return memory_.get(); }
    explicit operator bool() const noexcept { return memory_ != nullptr; }
    void release();

   private:
    friend class BufferPool;
    BufferPool* pool_ = nullptr;
    std::unique_ptr<std::uint8_t[]> memory_;
    std::size_t size_bytes_ = 0;
  };

  /// Errors: memory.
  Lease take(std::size_t size_bytes);

 private:
  struct Free {
    std::unique_ptr<std::uint8_t[]> memory;
    std::size_t size_bytes;
  };
  std::size_t keep_bytes_;
  std::mutex mutex_;
  std::vector<Free> free_;
  std::size_t free_bytes_ = 0;
};

}  // namespace headrace::ingest
