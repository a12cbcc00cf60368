#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "headrace/core/posix.hpp"
#include "learn/config/run_config.hpp"

namespace headrace::cli {

/// Starts `headrace track` for each tracker of a run's config, as processes of their own that read
/// the run folder: nothing that a tracker does or fails to do reaches the training. They are in a
/// session of their own, so a terminal's Ctrl-C does not reach them, and know the training's end by
/// a pipe that this object holds open. A thread collects those that end before, and warns once of
/// each that failed. Not for several threads.
class Trackers {
 public:
  /// `config` must outlive this. `run`: a run folder, or one of folds (start_group).
  Trackers(const config::RunConfig& config, std::string run)
      : config_(config), run_(std::move(run)) {}
  ~Trackers();
  Trackers(const Trackers&) = delete;
  Trackers& operator=(const Trackers&) = delete;

  /// Once the run folder is there; a second call does nothing. A process that can't be started is a
  /// warning. Messages of each tracker are in RUN/tracking/NAME.log.
  void start() { start_all(false); }
  /// The same for what a folder of folds has to tell at its end, to trackers that have a place for
  /// it: MLflow's run of the group.
  void start_group() { start_all(true); }

 private:
  struct Follower {
    std::string name, log;
    pid_t process = 0;
    std::uintmax_t log_begins = 0;  ///< where its own lines do: followers of before wrote, too
  };

  void start_all(bool group);
  void start_one(const config::RunConfig::Tracker& tracker, const std::string& entry,
                 int end_of_pipe);
  void watch();
  void collect_ended();

  const config::RunConfig& config_;
  std::string run_;
  bool started_ = false;
  std::vector<Follower> running_;  ///< once watch_ has begun, its own
  posix::Descriptor end_of_pipe_;  ///< tells watch_ of the end, as it does the followers
  posix::Descriptor alive_;        ///< closed when this process ends, in whatever way
  std::thread watch_;
};

}  // namespace headrace::cli
