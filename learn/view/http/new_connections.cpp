#include "learn/view/http/new_connections.hpp"

#include <sys/socket.h>

#include <algorithm>

namespace headrace::view {

NewConnections::NewConnections(std::size_t most, std::chrono::milliseconds time)
    : most_(std::max<std::size_t>(most, 1)), time_(time), watcher_([this] { watch(); }) {}

NewConnections::~NewConnections() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  watcher_.join();
}

void NewConnections::opened(int socket) {
  const std::lock_guard lock(mutex_);
  since_[socket] = Clock::now();
  if (since_.size() <= most_) return;
  const auto oldest =
      std::min_element(since_.begin(), since_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  ::shutdown(oldest->first, SHUT_RDWR);
  since_.erase(oldest);
}

void NewConnections::admitted(int socket) {
  const std::lock_guard lock(mutex_);
  since_.erase(socket);
}

void NewConnections::closed(int socket) { admitted(socket); }

void NewConnections::watch() {
  std::unique_lock lock(mutex_);
  const auto step = std::min<std::chrono::milliseconds>(time_, std::chrono::seconds(1));
  while (!changed_.wait_for(lock, step, [this] { return stopping_; })) {
    const auto now = Clock::now();
    std::erase_if(since_, [&](const auto& connection) {
      const bool over = now - connection.second >= time_;
      if (over) ::shutdown(connection.first, SHUT_RDWR);
      return over;
    });
  }
}

}  // namespace headrace::view
