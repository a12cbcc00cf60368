#pragma once
#include <cstdint>
#include <memory>

#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/loader.hpp"
#include "headrace/loader/plan/sample_plan.hpp"
#include "learn/config/run_config.hpp"
#include "learn/inference/network.hpp"
#include "learn/ranks/process_group.hpp"

namespace headrace::train {

/// Memory of a machine or a GPU: the amount that a run will use (on a GPU in addition to the
/// current use), and the available amount (on a GPU the free memory).
struct MemoryNeed {
  double needed_bytes = 0, present_bytes = 0;
};

/// Errors: memory, where it does not fit; `together`: number of samples in memory at once.
void check_memory(const MemoryNeed& need, bool on_gpu, std::int64_t together);

/// The cost of a run, measured by a trial.
struct Rehearsed {
  MemoryNeed host;  ///< training and, at the same time, evaluating
  MemoryNeed gpu;   ///< a step; where the model is on one
  bool on_gpu = false;
  double step_s = 0;   ///< one training batch through the network, without waiting for data
  double tiles_s = 0;  ///< one batch of the validation split
  std::uint64_t validation_batches = 0;  ///< of one validation during training
  std::uint64_t final_batches = 0;       ///< of the evaluation at the end
};

/// One batch of training and one of validation through loader and network, before there is a run
/// folder: an error of the first step, or after hours of the first validation, shows here.
///
/// The results of the run do not change by a bit: a step is forward, loss and backward without the
/// optimiser, its gradients are thrown away (as after every step), random numbers come only from
/// Philox by sample number, and the loaders are not those of the training. Trials with one sample
/// and with two show how much memory a step takes; where a whole batch would not fit into the
/// machine (or GPU), this is reported instead of a trial.
/// Errors: memory, those of the loader and of Network::rehearse.
Rehearsed rehearse(inference::Network& network, const std::shared_ptr<const cohort::Cohort>& cohort,
                   const config::RunConfig& config,
                   const std::shared_ptr<const loader::SamplePlan>& plan,
                   const std::shared_ptr<const loader::Preprocessing>& preprocessing,
                   ranks::ProcessGroup& process_group);

}  // namespace headrace::train
