#include "cli/run_inputs.hpp"

#include "headrace/core/log.hpp"
#include "headrace/loader/config/run_preprocessing.hpp"

namespace headrace::cli {

RunInputs open_run(const std::string& config, const std::string& split, int threads,
                   std::optional<device::DeviceChoice> device, const std::string& run) {
  RunInputs inputs;
  inputs.config = loader::RunConfig::load(config);
  if (threads >= 0) inputs.config.loader.threads = threads;
  if (device) inputs.config.loader.device = *device;
  inputs.cohort = cohort::Cohort::open(inputs.config.data.store, inputs.config.data.version);
  inputs.preprocessing = std::make_shared<const loader::Preprocessing>(
      run.empty() ? loader::Preprocessing::fit(*inputs.cohort, inputs.config)
                  : loader::read_run_preprocessing(storage::LocalStore(run)));
  if (!run.empty()) {
    const auto& seen = *inputs.preprocessing;
    inputs.cohort = inputs.cohort->seen_by(seen.classes, seen.class_sets);
  }
  inputs.plan = split.empty() ? loader::make_training_plan(*inputs.cohort, inputs.config)
                              : loader::make_tile_plan(*inputs.cohort, inputs.config, split);
  if (const std::string remark = inputs.plan->remark(); !remark.empty()) log::info("{}", remark);
  return inputs;
}

std::vector<std::int64_t> image_shape(const RunInputs& inputs) {
  const loader::RunConfig& config = inputs.config;
  if (config.volumes) {
    const auto& size = config.volume_patch.size_zyx;
    return {loader::channel_count(*inputs.preprocessing, config), size[0], size[1], size[2]};
  }
  return {static_cast<std::int64_t>(config.patch.context.size()), 3, config.patch.height,
          config.patch.width};
}

Json stall_json(const loader::StallStats& stats) {
  return {{"batches", stats.batches},
          {"samples", stats.samples},
          {"bytes_read", stats.bytes_read},
          {"plan_s", stats.plan_s},
          {"read_s", stats.read_s},
          {"decode_s", stats.decode_s},
          {"transform_s", stats.transform_s},
          {"copy_s", stats.copy_s},
          {"device_decode_s", stats.device_decode_s},
          {"device_transform_s", stats.device_transform_s},
          {"data_wait_s", stats.data_wait_s},
          {"model_wait_s", stats.model_wait_s},
          {"wall_s", stats.wall_s},
          {"stall_fraction", stats.stall_fraction()}};
}

}  // namespace headrace::cli
