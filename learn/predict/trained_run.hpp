#pragma once
#include <memory>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/loader/plan/preprocessing.hpp"
#include "learn/config/run_config.hpp"
#include "learn/inference/network.hpp"
#include "learn/predict/volume/or_reason.hpp"
#include "learn/result/image_result.hpp"
#include "learn/runs/run_folder.hpp"

namespace headrace::predict {

/// A trained run that predicts: its config, its preprocessing, and the network with its weights.
/// One thread.
struct TrainedRun {
  std::string folder;
  config::RunConfig config;  ///< its data.labels is empty: labels do not matter
  std::shared_ptr<const loader::Preprocessing> preprocessing;
  std::shared_ptr<inference::Network> network;
  result::NetworkFacts facts;
  /// eval.json where it is of these weights on the run's validation split.
  OrReason<Json> evaluation;

  const std::vector<std::string>& classes() const { return preprocessing->classes; }
};

/// weights: "final" or "best". `device` and `loader_threads` take the place of the config's.
/// Errors: not_found (no run, or not yet these weights), and those of read_run_preprocessing and
/// Network.
struct RunOptions {
  std::string weights = "final";
  device::DeviceChoice device = device::DeviceChoice::automatic;
  int loader_threads = 0;
};
TrainedRun open_trained_run(const std::string& folder, const RunOptions& options);

/// Refuses runs whose predictions can't be averaged pixel by pixel: another task, other classes or
/// channels, or other keys of `patch` and `eval`; names the first that differs. Errors: usage.
void check_ensemble(const std::vector<TrainedRun>& runs);

}  // namespace headrace::predict
