#pragma once
#include <cstdint>
#include <memory>

#include "headrace/loader/loader.hpp"
#include "headrace/loader/run_config.hpp"
#include "headrace/loader/sample_plan.hpp"
#include "headrace/ranks/team.hpp"
#include "headrace/source/cohort.hpp"
#include "headrace/train/network.hpp"

namespace headrace::train {

/// Memory of a machine or a GPU: what a run will have in use (of a GPU beside what is in use now),
/// against what there is (of a GPU what is free).
struct MemoryNeed {
  double needed_bytes = 0, present_bytes = 0;
};

/// Errors: memory, where it does not fit; `together`: samples that are in memory at once.
void check_memory(const MemoryNeed& need, bool on_gpu, std::int64_t together);

/// What a run costs, found by trying it.
struct Rehearsed {
  MemoryNeed host;  ///< training and, at the same time, judging
  MemoryNeed gpu;   ///< a step; where the model is on one
  bool on_gpu = false;
  double step_s = 0;   ///< one training batch through the network, without waiting for data
  double tiles_s = 0;  ///< one batch of the validation split
  std::uint64_t validation_batches = 0;
};

/// One batch of training and one of validation through loader and network, before there is a run
/// folder: what would end the run at its first step, or after hours at its first validation, ends
/// it here.
///
/// The results of the run do not change by a bit: a step is forward, loss and backward without the
/// optimiser, its gradients are thrown away (as after every step), nothing random but Philox by
/// sample numbers is drawn, and the loaders are others than the training's.
/// One sample and two tell how much memory a step takes; where all of its samples do not fit into
/// the machine (or GPU), that is said instead of trying.
/// Errors: memory, those of the loader and of Network::rehearse.
Rehearsed rehearse(Network& network, const std::shared_ptr<const source::Cohort>& cohort,
                   const loader::RunConfig& config,
                   const std::shared_ptr<const loader::SamplePlan>& plan,
                   const std::shared_ptr<const loader::Preprocessing>& preprocessing,
                   ranks::Team& team);

}  // namespace headrace::train
