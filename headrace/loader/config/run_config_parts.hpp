#pragma once
#include <string>

#include "headrace/core/fields.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/loader/config/run_config.hpp"

namespace headrace::loader::detail {

// The sections of RUN.yaml. `<section>_fields`: its keys, bound to the config's members; JSON, hash
// and lists of keys follow from them. `read_<section>` reads by them, refuses keys that are none of
// them, and checks what single keys can't show. Sections are read in this order, since a later one
// may depend on those before.

Fields data_fields(RunConfig& config);
void read_data(YamlMap map, RunConfig& config);

Fields patch_fields(RunConfig& config);
/// Sets config.volumes from config.task and the size.
void read_patch(YamlMap map, RunConfig& config);

Fields sampling_fields(RunConfig& config);
void read_sampling(YamlMap map, RunConfig& config);

/// Reads and compiles transforms or volume_transforms.
void read_transforms(const YamlValue& list, RunConfig& config);

Fields loader_fields(RunConfig& config);
void read_loader(YamlMap map, RunConfig& config);

Fields model_fields(RunConfig& config);
/// Takes the whole config, since `model: auto` is not a mapping. Plans the network
/// (network_plan.hpp).
void read_model(YamlMap& top, const std::string& file, RunConfig& config);

Fields train_fields(RunConfig& config);
void read_train(YamlMap map, RunConfig& config);

Fields eval_fields(RunConfig& config);
void read_eval(YamlMap map, RunConfig& config);

Field gates_field(RunConfig& config);
/// Last of all, since figures depend on task, kind and eval.
void read_gates(const YamlValue& value, RunConfig& config);

Field tracking_field(RunConfig& config);
void read_tracking(const YamlValue& list, RunConfig& config);

}  // namespace headrace::loader::detail
