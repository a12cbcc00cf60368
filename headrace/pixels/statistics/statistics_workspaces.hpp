#pragma once
#include <cstdint>

#include "headrace/core/limited_pool.hpp"
#include "headrace/pixels/statistics/queue_workspace.hpp"

namespace headrace::pixels {

/// A workspace whose copies go through its pinned area of the host, so that callers need no pinned
/// memory. One thread at a time.
class StatisticsWorkspace : private QueueWorkspace<StatisticsQueue> {
 public:
  explicit StatisticsWorkspace(StatisticsDevice& device);

  /// Area `index` of the device, for `count` elements. Its contents are lost when it grows.
  /// Errors: memory.
  template <typename T>
  T* area(std::size_t index, std::int64_t count) {
    return reinterpret_cast<T*>(on_device(index, static_cast<std::size_t>(count) * sizeof(T)));
  }
  template <typename T>
  T* cleared(std::size_t index, std::int64_t count) {
    T* there = area<T>(index, count);
    queue().clear(reinterpret_cast<std::uint8_t*>(there),
                  count * static_cast<std::int64_t>(sizeof(T)));
    return there;
  }

  /// Copies to an area of the device, after what is in the queue; returns when `from` is free.
  template <typename T>
  void send(T* there, const T* from, std::int64_t count) {
    send_bytes(reinterpret_cast<std::uint8_t*>(there), reinterpret_cast<const std::uint8_t*>(from),
               count * static_cast<std::int64_t>(sizeof(T)));
  }
  /// Waits for all that is in the queue and copies its results.
  template <typename T>
  void fetch(T* to, const T* there, std::int64_t count) {
    fetch_bytes(reinterpret_cast<std::uint8_t*>(to), reinterpret_cast<const std::uint8_t*>(there),
                count * static_cast<std::int64_t>(sizeof(T)));
  }
  void gather(const StatisticsPass& pass) { queue().gather(pass); }

 private:
  void send_bytes(std::uint8_t* there, const std::uint8_t* from, std::int64_t bytes);
  void fetch_bytes(std::uint8_t* to, const std::uint8_t* there, std::int64_t bytes);
};

/// The workspaces of a device that the images at work share: few, so that the memory of the device
/// and the pinned memory of the host are bounded however many images there are. Safe from any
/// thread; a thread that holds a workspace must not wait for a second, nor start a loop of the
/// pool.
class StatisticsWorkspaces {
 public:
  static constexpr int kMost = 4;

  /// device: must outlive this. threads: number at work. Errors: memory.
  StatisticsWorkspaces(StatisticsDevice& device, int threads);

  class Lease : public LimitedPool<StatisticsWorkspace>::Lease {
   public:
    explicit Lease(StatisticsWorkspaces& workspaces)
        : LimitedPool<StatisticsWorkspace>::Lease(workspaces.workspaces_) {}
  };

 private:
  LimitedPool<StatisticsWorkspace> workspaces_;
};

}  // namespace headrace::pixels
