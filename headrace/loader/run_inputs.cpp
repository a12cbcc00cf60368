#include "headrace/loader/run_inputs.hpp"

#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/log.hpp"
#include "headrace/loader/plan/folds.hpp"
#include "headrace/loader/plan/run_preprocessing.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::loader {

namespace {

/// Refuses a run of a fold beside another dataset than its own: that is dealt anew, so the fold's
/// split would hold patients that the run was trained on.
void check_own_deal(const RunInputs& inputs, const std::string& split, const std::string& run) {
  const LoaderConfig& config = inputs.config;
  if (config.data.folds == 0 || (split != config.data.val && split != config.data.train)) return;
  const auto files = storage::open_store(storage::Place::parse(run));
  const auto read = [&](const char* name) {
    return parse_json(files->get_text(name), files->describe(name));
  };
  if (!read("config.json").at("data").contains("folds")) return;
  const auto own = read(kRunFile).at("dataset_hash").get<std::string>();
  if (own == inputs.cohort->dataset_hash()) return;
  fail(
      ErrorCode::usage,
      "{} is a fold of dataset {}, but {} is dataset {}, which is dealt anew: its split '{}' would "
      "hold patients that the run was trained on. Give the run's own (data.version: {}), or leave "
      "data.folds out.",
      run, own.substr(0, 16), config.data.store, inputs.cohort->dataset_hash().substr(0, 16), split,
      own.substr(0, 16));
}

}  // namespace

std::vector<std::int64_t> image_shape(const RunInputs& inputs) {
  const LoaderConfig& config = inputs.config;
  if (config.volumes) {
    const auto& size = config.volume_patch.size_zyx;
    return {channel_count(*inputs.preprocessing, config), size[0], size[1], size[2]};
  }
  if (config.views.empty())
    return {static_cast<std::int64_t>(config.patch.context.size()), 3, config.patch.height,
            config.patch.width};
  const LoaderConfig::View& first = config.views.front();
  return {first.crops, 3, first.patch.height, first.patch.width};
}

RunInputs open_run(LoaderConfig config, const std::string& split, const std::string& run,
                   const ListedPatches& listed) {
  RunInputs inputs;
  inputs.config = std::move(config);
  inputs.cohort = open_split(inputs.config);
  inputs.preprocessing = std::make_shared<const Preprocessing>(
      run.empty() ? Preprocessing::fit(*inputs.cohort, inputs.config)
                  : read_run_preprocessing(*storage::open_store(storage::Place::parse(run))));
  if (!run.empty()) {
    check_own_deal(inputs, split, run);
    const auto& seen = *inputs.preprocessing;
    inputs.cohort = inputs.cohort->seen_by(seen.classes, seen.class_sets);
  }
  inputs.plan = listed.list
                    ? make_list_plan(*inputs.cohort, inputs.config, *listed.list, listed.augmented)
                : split.empty() ? make_training_plan(*inputs.cohort, inputs.config)
                                : make_tile_plan(*inputs.cohort, inputs.config, split);
  if (const std::string remark = inputs.plan->remark(); !remark.empty()) log::info("{}", remark);
  return inputs;
}

}  // namespace headrace::loader
