#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace headrace::device {

/// Host memory, 64-byte aligned, with kTailPadding readable bytes after its size, so that a 4-byte
/// gather at the last pixel stays inside. From 2 MiB on it lies in large pages, where the system
/// gives them on request. Contents are undefined until written. Movable, not copyable.
class HostBuffer {
 public:
  static constexpr std::size_t kTailPadding = 64;

  HostBuffer() = default;
  explicit HostBuffer(std::size_t size_bytes);

  std::byte* data() noexcept { return data_.get(); }
  const std::byte* data() const noexcept { return data_.get(); }
  template <typename T>
  T* as() noexcept {
    return reinterpret_cast<T*>(data_.get());
  }
  template <typename T>
  const T* as() const noexcept {
    return reinterpret_cast<const T*>(data_.get());
  }
  std::size_t size() const noexcept { return size_; }
  std::span<std::byte> bytes() noexcept { return {data(), size_}; }
  std::span<const std::byte> bytes() const noexcept { return {data(), size_}; }

  /// Makes size() at least `size_bytes`; contents are lost when it grows. Never shrinks.
  void reserve(std::size_t size_bytes);

 private:
  struct Free {
    void operator()(std::byte* pointer) const noexcept;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0;
};

/// Keeps returned buffers for reuse: the first touch of a fresh page costs more than decoding it
/// (docs/architecture.md, "Memory"). Contents are not cleared. Safe from any thread. Must outlive
/// its leases.
class BufferPool {
 public:
  /// Returned buffers beyond `keep_bytes` are given back to the system.
  explicit BufferPool(std::size_t keep_bytes = std::numeric_limits<std::size_t>::max())
      : keep_bytes_(keep_bytes) {}

  /// A buffer on loan; goes back to its pool when destroyed.
  class Lease {
   public:
    Lease() = default;
    Lease(BufferPool* pool, HostBuffer buffer) : pool_(pool), buffer_(std::move(buffer)) {}
    Lease(Lease&& other) noexcept : pool_(other.pool_), buffer_(std::move(other.buffer_)) {
      other.pool_ = nullptr;
    }
    Lease& operator=(Lease&& other) noexcept;
    ~Lease() { release(); }
    explicit operator bool() const noexcept { return pool_ != nullptr; }
    std::uint8_t* data() noexcept { return buffer_.as<std::uint8_t>(); }
    void release() noexcept;
    HostBuffer& operator*() noexcept { return buffer_; }
    HostBuffer* operator->() noexcept { return &buffer_; }

   private:
    BufferPool* pool_ = nullptr;
    HostBuffer buffer_;
  };

  /// A buffer of at least `size_bytes`: the smallest kept one that is large enough (with a bound:
  /// and at most twice as large), else a new one.
  /// Errors: memory.
  Lease take(std::size_t size_bytes);

 private:
  const std::size_t keep_bytes_;
  std::mutex mutex_;
  std::vector<HostBuffer> kept_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace headrace::device
