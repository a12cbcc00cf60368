#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/core/error.hpp"
#include "learn/ranks/rank_info.hpp"
#include "learn/ranks/shared_memory.hpp"

namespace headrace::ranks {

/// Processes of one machine that meet. Every process calls the same collectives in the same order;
/// a waiting process sleeps.
///
/// An error of one process reaches all at the same collective: the failing process calls fail()
/// instead of the collective, and every other gets an Error with that text. Of several errors the
/// lowest rank's counts, so the same input gives the same error. A process that ended without
/// notice (killed, out of memory) is noticed within a second by those that wait for it.
/// threads  one, which must outlive the ProcessGroup
class ProcessGroup {
 public:
  struct Patience {
    std::chrono::milliseconds tell{10'000};      ///< after this time it reports which processes it
                                                 ///< waits for
    std::chrono::milliseconds give_up{600'000};  ///< after this time it stops waiting for the
                                                 ///< others to come
  };
  /// A single process, without others.
  ProcessGroup();
  /// Returns when all `rank_info.size` processes have come. They find each other by `what` (the run
  /// folder's absolute path) and rank_info.start. Errors: usage (another process has this rank: two
  /// trainings of one folder), io (a process did not come, or ended before all had come)
  static ProcessGroup join(const RankInfo& rank_info, const std::string& what) {
    return join(rank_info, what, Patience());
  }
  static ProcessGroup join(const RankInfo& rank_info, const std::string& what, Patience patience);
  ~ProcessGroup();  ///< leaves: no process waits for it any more
  ProcessGroup(ProcessGroup&&) noexcept;
  ProcessGroup& operator=(ProcessGroup&&) noexcept;

  int rank() const noexcept;
  int size() const noexcept;
  bool first() const noexcept { return rank() == 0; }

  /// A collective: every process gives a note of at most 1024 bytes and gets all notes, by rank;
  /// that of a process that has left is empty. Errors: those of the others.
  std::vector<std::string> all_gather(std::string_view note);
  void barrier() { all_gather({}); }
  /// A collective with zeroed memory of `bytes`, the same for all. Errors: memory, those of the
  /// others.
  SharedMemory share(std::size_t bytes);

  /// Comes to the next collective with this error, and waits until all others have seen it; does
  /// nothing after an error that came from a collective. No collective may follow.
  void fail(ErrorCode code, const std::string& text) noexcept;
  /// Whether this process reports to the user what happened: it is the lowest remaining rank.
  bool reports() const noexcept;

 private:
  struct State;
  explicit ProcessGroup(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Number of cores that this process may take, so that the group takes each core once. A
/// collective.
int share_of_cores(ProcessGroup& process_group);

}  // namespace headrace::ranks
