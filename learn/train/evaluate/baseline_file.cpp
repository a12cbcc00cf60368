#include "learn/train/evaluate/baseline_file.hpp"

namespace headrace::train {
namespace {

constexpr const char* kName = "baseline.json";

}  // namespace

std::shared_ptr<const Baseline> keep_baseline(runs::RunFolder& folder, const cohort::Cohort& cohort,
                                              const config::RunConfig& config) {
  auto baseline = std::make_shared<const Baseline>(fit_baseline(cohort, config));
  folder.write_json(kName, baseline->to_json());
  return baseline;
}

std::shared_ptr<const Baseline> read_baseline(const runs::RunFolder& folder,
                                              const std::vector<std::string>& classes) {
  if (!folder.has(kName)) return nullptr;
  return std::make_shared<const Baseline>(Baseline::from_json(folder.read_json(kName), classes));
}

}  // namespace headrace::train
