#include "headrace/core/helper_threads.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "headrace/core/of_this_process.hpp"

namespace headrace {
namespace {

/// One loop, on the stack of the thread that called it.
struct Loop {
  const HelperThreads::Pieces& body;
  const std::size_t count, grain;
  std::atomic<std::size_t> next{0};
  std::size_t helpers = 0;  ///< inside, by the team's mutex
  std::condition_variable left;

  bool has_more() const { return next.load(std::memory_order_relaxed) < count; }
  void work() {
    for (std::size_t i; (i = next.fetch_add(grain)) < count;) body(i, std::min(i + grain, count));
  }
};

/// The loops of one owner, and how many helpers are at work or called for them.
class Team {
 public:
  explicit Team(std::size_t most) : most_(most) {}

  /// Opens the loop to helpers; how many to call for it.
  std::size_t open(Loop& loop) {
    const std::size_t others = (loop.count - 1) / loop.grain;
    const std::lock_guard lock(mutex_);
    loops_.push_back(&loop);
    const std::size_t called = std::min(most_ - helpers_, others);
    helpers_ += called;
    return called;
  }
  void do_without(std::size_t helpers) {
    const std::lock_guard lock(mutex_);
    helpers_ -= helpers;
  }
  /// Waits for the helpers inside.
  void close(Loop& loop) {
    std::unique_lock lock(mutex_);
    std::erase(loops_, &loop);
    loop.left.wait(lock, [&] { return loop.helpers == 0; });
  }
  /// What a helper does that was called.
  void help() {
    std::unique_lock lock(mutex_);
    while (Loop* loop = newest()) {
      ++loop->helpers;
      lock.unlock();
      loop->work();
      lock.lock();
      if (--loop->helpers == 0) loop->left.notify_all();
    }
    --helpers_;
  }

 private:
  /// The newest loop has the piece of another one waiting, where loops are nested.
  Loop* newest() {
    const auto found =
        std::find_if(loops_.rbegin(), loops_.rend(), [](Loop* loop) { return loop->has_more(); });
    return found == loops_.rend() ? nullptr : *found;
  }

  const std::size_t most_;
  std::mutex mutex_;
  std::vector<Loop*> loops_;
  std::size_t helpers_ = 0;
};

/// The threads of this process. Never destroyed: they last until it ends.
class Threads {
 public:
  const pid_t process = ::getpid();

  /// Sends so many helpers to the team; how many could not be started.
  std::size_t send(const std::shared_ptr<Team>& team, std::size_t helpers) {
    std::size_t missing = 0;
    {
      const std::lock_guard lock(mutex_);
      called_.insert(called_.end(), helpers, team);
      while (called_.size() > free_ && start()) {
      }
      missing = called_.size() - std::min(called_.size(), free_);
      called_.resize(called_.size() - missing);
    }
    for (std::size_t i = missing; i < helpers; ++i) there_.notify_one();
    return missing;
  }

 private:
  bool start() {
    try {
      std::thread([this] { serve(); }).detach();
    } catch (const std::system_error&) {  // no more threads for this process
      return false;
    }
    ++free_;
    return true;
  }
  [[noreturn]] void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      there_.wait(lock, [&] { return !called_.empty(); });
      const std::shared_ptr<Team> team = std::move(called_.front());
      called_.pop_front();
      --free_;
      lock.unlock();
      team->help();
      lock.lock();
      ++free_;
    }
  }

  std::mutex mutex_;
  std::condition_variable there_;
  std::deque<std::shared_ptr<Team>> called_;
  std::size_t free_ = 0;  ///< without a team; as many as are called will go
};

constinit std::atomic<Threads*> process_threads{nullptr};

Threads& threads() {
  return of_this_process(process_threads, [] { return std::make_unique<Threads>(); });
}

struct TeamHere {
  const pid_t process = ::getpid();
  const std::shared_ptr<Team> team;
};

}  // namespace

struct HelperThreads::State {
  explicit State(std::size_t n) : most(n) {}
  ~State() {
    TeamHere* mine = here.load();
    if (mine != nullptr && mine->process == ::getpid()) delete mine;
  }

  const std::size_t most;
  std::atomic<TeamHere*> here{nullptr};
};

HelperThreads::HelperThreads(std::size_t most) : state_(std::make_unique<State>(most)) {}
HelperThreads::~HelperThreads() = default;

void HelperThreads::run(std::size_t count, std::size_t grain, const Pieces& body) {
  if (count == 0) return;
  const std::shared_ptr<Team>& team =
      of_this_process(state_->here, [&] {
        return std::make_unique<TeamHere>(TeamHere{.team = std::make_shared<Team>(state_->most)});
      }).team;
  Loop loop{.body = body, .count = count, .grain = grain};
  const std::size_t called = team->open(loop);
  const struct Close {
    ~Close() { team.close(loop); }
    Team& team;
    Loop& loop;
  } close{*team, loop};
  if (called > 0) {
    const std::size_t missing = threads().send(team, called);
    if (missing > 0) team->do_without(missing);
  }
  loop.work();
}

}  // namespace headrace
