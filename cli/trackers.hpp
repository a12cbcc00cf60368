#pragma once
#include <string>
#include <utility>

#include "headrace/loader/config/run_config.hpp"
#include "headrace/storage/posix.hpp"

namespace headrace::cli {

/// Starts `headrace track` for each tracker of a run's config, as processes of their own that read
/// the run folder: nothing that a tracker does or fails to do reaches the training. They are in a
/// session of their own, so a terminal's Ctrl-C does not reach them, and know the training's end by
/// a pipe that this object holds open.
class Trackers {
 public:
  Trackers(const loader::RunConfig& config, std::string run)
      : config_(config), run_(std::move(run)) {}

  /// Once the run folder is there; a second call does nothing. A process that can't be started is a
  /// warning. Messages of each tracker are in RUN/tracking/NAME.log.
  void start();

 private:
  void start_one(const loader::RunConfig::Tracker& tracker, const std::string& entry,
                 int end_of_pipe) const;

  const loader::RunConfig& config_;
  std::string run_;
  bool started_ = false;
  storage::posix::Descriptor alive_;  ///< closed when this process ends, in whatever way
};

}  // namespace headrace::cli
