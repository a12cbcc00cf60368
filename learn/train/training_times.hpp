#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/device/gpu_meter.hpp"
#include "headrace/loader/loader.hpp"
#include "learn/model/stream_times.hpp"

namespace headrace::train {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start);

/// The note of each process to the others at every step.
struct StepNote {
  int signal = 0;  ///< the user asked this process to stop
  double data_wait_s = 0, model_s = 0;
  std::uint64_t batch = 0;  ///< batch_digest of its samples, where the step's is recorded

  std::string_view bytes() const { return {reinterpret_cast<const char*>(this), sizeof *this}; }
};

/// How the time of a training was spent: all that is under "time" and decides no result.
struct TrainingTimes {
  Clock::time_point start = Clock::now();
  double step_s = 0, exchange_s = 0, validate_s = 0, checkpoint_s = 0, loop_s = 0;
  double record_s = 0;   ///< digests for steps.jsonl
  double starved_s = 0;  ///< a GPU that the host does not wait for was idle for want of a batch
  StepNote slowest;      ///< of the process that waited longest for data
  int asked = 0;         ///< the signal by which one of the processes was asked to stop
  loader::StallStats loader;
  device::GpuUsage gpu;
  std::int64_t resumed_at = 0;  ///< step

  /// A step of such a GPU: its time into step_s and starved_s. `waited_s`: the host's wait for its
  /// batch. The GPU was idle for want of data only as long as the host waited too; else for what the
  /// host does between steps, which is part of the step, or, `after_pause`, of something else.
  void add(const model::StreamTimes& step, double waited_s, bool after_pause);
  /// Takes the notes of all processes. Returns the sum of their digests.
  std::uint64_t hear(const std::vector<std::string>& notes);
  /// `step`: finished ones; `batch`: samples of one, by all `processes`.
  Json to_json(std::int64_t step, std::int64_t batch, int processes, int loader_threads) const;
};

}  // namespace headrace::train
