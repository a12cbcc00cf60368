#include "headrace/train/replay/recorded_run.hpp"

#include <algorithm>

#include "headrace/loader/config/run_preprocessing.hpp"

namespace headrace::train {

RecordedRun RecordedRun::read(const std::string& path, std::size_t steps) {
  RecordedRun out{runs::RunFolder::open(path), {}, {}, {}, {}, {}};
  out.run = out.folder.read_json(loader::kRunFile);
  out.config = out.folder.read_json("config.json");
  out.starts = out.folder.lines(runs::kStarts);
  out.metrics = out.folder.metrics();
  for (const Json& line : out.folder.lines(runs::kSteps, steps)) {
    const StepRecord record = StepRecord::parse(line, out.folder.describe(runs::kSteps));
    out.steps[record.step] = record;
  }
  return out;
}

const Json& RecordedRun::started_with() const {
  return starts.empty() ? config : starts.front().at("config");
}

const Json& RecordedRun::judged_with() const {
  return starts.empty() ? config : starts.back().at("config");
}

std::vector<Json> RecordedRun::computed_by() const {
  std::vector<Json> out = starts;
  if (starts.empty() || starts.front().at("step") != 0) out.insert(out.begin(), run);
  return out;
}

std::int64_t RecordedRun::last_step() const {
  std::int64_t last = steps.empty() ? 0 : steps.rbegin()->first;
  for (const Json& line : metrics) last = std::max(last, line.value("step", std::int64_t{0}));
  return last;
}

}  // namespace headrace::train
