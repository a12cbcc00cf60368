#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/config/loader_config.hpp"
#include "headrace/loader/plan/patch_list.hpp"
#include "headrace/loader/plan/preprocessing.hpp"
#include "headrace/loader/plan/sample_plan.hpp"

namespace headrace::loader {

/// All that batches of a run config are made from.
struct RunInputs {
  LoaderConfig config;
  std::shared_ptr<const cohort::Cohort> cohort;
  std::shared_ptr<const SamplePlan> plan;
  std::shared_ptr<const Preprocessing> preprocessing;

  bool with_labels() const { return !config.data.labels.empty(); }
};

/// Shape of one sample's images: (context, 3, y, x) for slides, (channel, z, y, x) for volumes.
std::vector<std::int64_t> image_shape(const RunInputs& inputs);

/// Patches that a user lists, instead of a plan of ours.
struct ListedPatches {
  std::optional<PatchList> list;  ///< none: the plan is ours
  bool augmented = false;         ///< as make_list_plan has it
};

/// Opens the store of a config. `split`: the tiles of that split; empty: training samples. `listed`:
/// these patches, whatever the split. `run`: a
/// run folder whose preprocessing is used, including classes and their order; empty: it is fitted
/// on the store's training split. What the plan remarks is logged.
/// Errors: those of Cohort::open, Preprocessing::fit, read_run_preprocessing and the plans.
RunInputs open_run(LoaderConfig config, const std::string& split, const std::string& run = {},
                   const ListedPatches& listed = {});

}  // namespace headrace::loader
