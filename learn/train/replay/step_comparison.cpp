#include "learn/train/replay/step_comparison.hpp"

#include <cmath>

namespace headrace::train {
namespace {

using What = ReplayDifference::What;

/// To the last bit; one that is not a number equals another one.
bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// What steps.jsonl has for an infinite number is null, which is read as NaN.
double as_recorded(double value) { return std::isfinite(value) ? value : std::nan(""); }

}  // namespace

void StepComparison::begins(const Json& run, const loader::Preprocessing& preprocessing) {
  result_.dataset_hash = run.at("dataset_hash").get<std::string>();
  for (KnownDifference& one : made_differently(recorded_, run, preprocessing))
    result_.known.push_back(std::move(one));
  if (say_) say_(result_.known);
}

bool StepComparison::goes_on(const StepRecord& step) {
  last_ = step.step;
  return !differs(step) && step.step != steps_;
}

void StepComparison::set(What what, std::int64_t step, Json recorded, Json replayed,
                         const std::string& key) {
  result_.difference =
      ReplayDifference{what, step, key, std::move(recorded), std::move(replayed), batch_agrees_};
}

bool StepComparison::differs(const StepRecord& step) {
  loss_ += step.loss;
  ++since_line_;
  const auto found = recorded_.steps.find(step.step);
  bool other = false;
  if (found != recorded_.steps.end()) {
    ++result_.steps;
    other = differs_from(found->second, step);
  } else if (recorded_.means.contains(step.step)) {
    result_.steps = step.step;
    other = mean_differs(step);
  }
  if (recorded_.means.contains(step.step)) {
    loss_ = 0;
    since_line_ = 0;
  }
  return other;
}

bool StepComparison::differs_from(const StepRecord& before, const StepRecord& now) {
  const bool digests = before.batch && now.batch;
  batch_agrees_ = digests && *before.batch == *now.batch;
  if (digests && !batch_agrees_) {
    set(What::batch, now.step, digest_text(*before.batch), digest_text(*now.batch));
    return true;
  }
  result_.batches += digests ? 1 : 0;
  if (!same(before.loss, as_recorded(now.loss))) {
    set(What::loss, now.step, before.loss, now.loss);
    return true;
  }
  if (!same(before.gradient_norm, as_recorded(now.gradient_norm))) {
    set(What::gradient_norm, now.step, before.gradient_norm, now.gradient_norm);
    return true;
  }
  const bool weighed = !before.weights.empty() && !now.weights.empty();
  if (weighed && before.weights != now.weights) {
    set(What::weights, now.step, before.weights, now.weights);
    return true;
  }
  result_.weights += weighed ? 1 : 0;
  return false;
}

bool StepComparison::mean_differs(const StepRecord& now) {
  batch_agrees_ = false;
  const MeanRecord& before = recorded_.means.at(now.step);
  const double mean = loss_ / static_cast<double>(since_line_);
  if (!same(before.loss, as_recorded(mean))) {
    set(What::loss, now.step, before.loss, mean,
        fmt::format(" (mean of the last {} steps)", since_line_));
    return true;
  }
  if (same(before.gradient_norm, as_recorded(now.gradient_norm))) return false;
  set(What::gradient_norm, now.step, before.gradient_norm, now.gradient_norm);
  return true;
}

}  // namespace headrace::train
