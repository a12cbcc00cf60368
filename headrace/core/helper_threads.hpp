#pragma once
#include <cstddef>
#include <functional>
#include <memory>

namespace headrace {

/// At most so many helpers at a time, which the process lends, for the loops of one owner.
///
/// The process's helper threads are started when they are needed, sleep between loops, and last as
/// long as the process. A forked process starts its own: nothing that its parent's threads held or
/// changed at the moment of the fork is used there.
class HelperThreads {
 public:
  /// Pieces [begin, end) of a loop. Must not throw.
  using Pieces = std::function<void(std::size_t begin, std::size_t end)>;

  explicit HelperThreads(std::size_t most);
  /// Call it when no loop runs in this process.
  ~HelperThreads();
  HelperThreads(const HelperThreads&) = delete;
  HelperThreads& operator=(const HelperThreads&) = delete;

  /// Calls body for pieces of `grain` until [0, count) is done; the calling thread works along, and
  /// alone where no helper is free or can be started. A thread that waits for a loop's last pieces
  /// begins nothing else. Safe from any thread, also from inside of a loop.
  void run(std::size_t count, std::size_t grain, const Pieces& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headrace
