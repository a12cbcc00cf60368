#pragma once
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <thread>

namespace headrace::view {

/// Connections that have not shown yet that they may ask. They come from anyone who reaches the port,
/// so they get a total time for that, which no byte renews, and only some of the server's places: where
/// these are full, the one that has waited longest ends. Ending a connection is shutdown(2) of its
/// socket, which its owner then sees as closed. Safe from any thread.
class NewConnections {
 public:
  NewConnections(std::size_t most, std::chrono::milliseconds time);
  ~NewConnections();
  NewConnections(const NewConnections&) = delete;
  NewConnections& operator=(const NewConnections&) = delete;

  void opened(int socket);
  /// It may ask: it is no longer looked after.
  void admitted(int socket);
  /// To be called before the socket is closed: its number may then be another one's.
  void closed(int socket);

 private:
  using Clock = std::chrono::steady_clock;

  void watch();

  const std::size_t most_;
  const std::chrono::milliseconds time_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int, Clock::time_point> since_;  ///< by socket
  bool stopping_ = false;
  std::thread watcher_;  ///< last: it uses the others
};

}  // namespace headrace::view
