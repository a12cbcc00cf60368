#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/ranks/place.hpp"
#include "headrace/ranks/shared_memory.hpp"

namespace headrace::ranks {

/// Processes of one machine that meet. Every process calls the same meetings in the same order;
/// who waits sleeps.
///
/// An error of one is met by all at the same meeting: fail() comes to it in the failing one's
/// stead, and every other gets an Error with that text. Of several the lowest rank's counts, so the
/// same input gives the same error. A process that ended without a word (killed, out of memory) is
/// noticed by those who wait for it, within a second.
/// threads  one, which must outlive the Team
class Team {
 public:
  struct Patience {
    std::chrono::milliseconds tell{10'000};      ///< after it says whom it waits for
    std::chrono::milliseconds give_up{600'000};  ///< after it stops waiting for the others to come
  };
  /// One process, which meets nobody.
  Team();
  /// Returns when all `place.size` processes are there. They find each other by `what` (the run
  /// folder's absolute path) and place.start.
  /// Errors: usage (another process has this rank: two trainings of one folder), io (somebody did
  /// not come, or ended before all were there)
  static Team join(const Place& place, const std::string& what) {
    return join(place, what, Patience());
  }
  static Team join(const Place& place, const std::string& what, Patience patience);
  ~Team();  ///< leaves: nobody waits for it any more
  Team(Team&&) noexcept;
  Team& operator=(Team&&) noexcept;

  int rank() const noexcept;
  int size() const noexcept;
  bool first() const noexcept { return rank() == 0; }

  /// A meeting: everyone gives a note of at most 1024 bytes and gets all, by rank; of one who has
  /// left an empty one. Errors: those of the others.
  std::vector<std::string> gather(std::string_view note);
  void meet() { gather({}); }
  /// A meeting with zeroed memory of `bytes`, the same for all. Errors: memory, those of the
  /// others.
  SharedMemory share(std::size_t bytes);

  /// Comes to the next meeting with this error, and waits until all others have seen it; nothing
  /// after an error that came from a meeting. No meeting may follow.
  void fail(ErrorCode code, const std::string& text) noexcept;
  /// Whether this process tells the user what happened: the lowest rank that is still there.
  bool speaks() const noexcept;

 private:
  struct State;
  explicit Team(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Cores that this process may take, so that all of a team take each core once. A meeting.
int share_of_cores(Team& team);

}  // namespace headrace::ranks
