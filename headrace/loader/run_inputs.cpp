#include "headrace/loader/run_inputs.hpp"

#include <utility>

#include "headrace/core/log.hpp"
#include "headrace/loader/config/run_preprocessing.hpp"
#include "headrace/loader/plan/folds.hpp"

namespace headrace::loader {

std::vector<std::int64_t> image_shape(const RunInputs& inputs) {
  const RunConfig& config = inputs.config;
  if (config.volumes) {
    const auto& size = config.volume_patch.size_zyx;
    return {channel_count(*inputs.preprocessing, config), size[0], size[1], size[2]};
  }
  return {static_cast<std::int64_t>(config.patch.context.size()), 3, config.patch.height,
          config.patch.width};
}

RunInputs open_run(RunConfig config, const std::string& split, const std::string& run) {
  RunInputs inputs;
  inputs.config = std::move(config);
  inputs.cohort = open_split(inputs.config);
  inputs.preprocessing = std::make_shared<const Preprocessing>(
      run.empty() ? Preprocessing::fit(*inputs.cohort, inputs.config)
                  : read_run_preprocessing(storage::LocalStore(run)));
  if (!run.empty()) {
    const auto& seen = *inputs.preprocessing;
    inputs.cohort = inputs.cohort->seen_by(seen.classes, seen.class_sets);
  }
  inputs.plan = split.empty() ? make_training_plan(*inputs.cohort, inputs.config)
                              : make_tile_plan(*inputs.cohort, inputs.config, split);
  if (const std::string remark = inputs.plan->remark(); !remark.empty()) log::info("{}", remark);
  return inputs;
}

}  // namespace headrace::loader
