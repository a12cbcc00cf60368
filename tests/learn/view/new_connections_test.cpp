#include "learn/view/http/new_connections.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>

namespace headrace::view {
namespace {

using namespace std::chrono_literals;

/// The two ends of a connection.
class Ends {
 public:
  Ends() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()), 0); }
  ~Ends() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  int server() const { return ends_[0]; }
  void send() const { EXPECT_EQ(::write(ends_[1], "x", 1), 1); }
  /// Whether the client sees its end within a time.
  bool ended(std::chrono::milliseconds within) const {
    pollfd looked{ends_[1], POLLIN, 0};
    return ::poll(&looked, 1, static_cast<int>(within.count())) == 1;
  }

 private:
  std::array<int, 2> ends_{};
};

TEST(NewConnections, EndWhenTheirTimeIsOverWhateverTheySend) {
  const Ends stranger, known;
  NewConnections connections(10, 300ms);
  connections.opened(stranger.server());
  connections.opened(known.server());
  connections.admitted(known.server());
  stranger.send();
  EXPECT_TRUE(stranger.ended(20s));
  EXPECT_FALSE(known.ended(700ms));
  connections.closed(stranger.server());
}

TEST(NewConnections, TheOldestMakesRoom) {
  const Ends first, second, third;
  NewConnections connections(2, 1h);
  connections.opened(first.server());
  connections.opened(second.server());
  EXPECT_FALSE(first.ended(0ms));
  connections.opened(third.server());
  EXPECT_TRUE(first.ended(20s));
  EXPECT_FALSE(second.ended(0ms));
  EXPECT_FALSE(third.ended(0ms));
}

}  // namespace
}  // namespace headrace::view
