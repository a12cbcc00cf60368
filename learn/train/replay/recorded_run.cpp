#include "learn/train/replay/recorded_run.hpp"

#include <algorithm>
#include <limits>

#include "headrace/core/error.hpp"
#include "headrace/core/json_fault.hpp"
#include "headrace/loader/plan/run_preprocessing.hpp"

namespace headrace::train {

namespace {

constexpr const char* kMetrics = "metrics.jsonl";

double number_of(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

}  // namespace

RecordedRun RecordedRun::read(const std::string& path, std::int64_t steps) {
  RecordedRun out{runs::RunFolder::open(path), {}, {}, {}, {}, {}, {}};
  out.finished = out.folder.has(runs::kFinalWeights);
  out.run = out.folder.read_json(loader::kRunFile);
  out.config = out.folder.read_json("config.json");
  out.starts = out.folder.lines(runs::kStarts);
  out.folder.for_each_line(runs::kSteps, [&](const Json& line) {
    const StepRecord record = StepRecord::parse(line, out.folder.describe(runs::kSteps));
    if (record.step <= steps) out.steps[record.step] = record;
    return record.step < steps;
  });
  try {
    out.folder.for_each_line(kMetrics, [&](const Json& line) {
      const auto step = line.at("step").get<std::int64_t>();
      const bool enough = !out.steps.empty() || !out.means.empty();
      if (step > steps && enough) return false;
      if (line.contains("loss"))
        out.means[step] = {number_of(line.at("loss")), number_of(line.at("gradient_norm"))};
      if (line.contains("validation")) out.validations.push_back(line);
      return true;
    });
  } catch (const Json::exception& error) {
    fail(ErrorCode::malformed, "{}: a line is not one of metrics.jsonl ({}).",
         out.folder.describe(kMetrics), json_fault(error));
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
  return means.empty() ? last : std::max(last, means.rbegin()->first);
}

}  // namespace headrace::train
