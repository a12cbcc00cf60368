#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "learn/train/replay/recorded_run.hpp"
#include "learn/train/replay/replay_result.hpp"
#include "learn/train/trainer.hpp"

namespace headrace::train {

/// Holds a training, step by step, against a recorded one, and ends it at the first difference.
class StepComparison : public TrainingWatcher {
 public:
  using SayKnown = std::function<void(const std::vector<KnownDifference>&)>;

  /// `result` has the differences by the config; `say` is told all that is known before the first
  /// step. `steps`: after which it ends; 0: with the training itself. All must outlive it.
  StepComparison(const RecordedRun& recorded, std::int64_t steps, ReplayResult& result,
                 const SayKnown& say)
      : recorded_(recorded), steps_(steps), result_(result), say_(say) {}

  void begins(const Json& run, const loader::Preprocessing& preprocessing) override;
  bool goes_on(const StepRecord& step) override;
  std::int64_t last() const { return last_; }  ///< step that was taken

 private:
  bool differs(const StepRecord& step);
  bool differs_from(const StepRecord& before, const StepRecord& now);
  bool mean_differs(const StepRecord& now);
  void set(ReplayDifference::What what, std::int64_t step, Json recorded, Json replayed,
           const std::string& key = "");

  const RecordedRun& recorded_;
  std::int64_t steps_;
  ReplayResult& result_;
  const SayKnown& say_;
  std::int64_t last_ = 0;
  bool batch_agrees_ = false;  ///< of the last step: it was compared
  double loss_ = 0;            ///< sum since the last line of metrics.jsonl
  std::int64_t since_line_ = 0;
};

}  // namespace headrace::train
