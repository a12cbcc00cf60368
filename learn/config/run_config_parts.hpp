#pragma once
#include <string>

#include "headrace/core/fields.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/loader/config/loader_config_parts.hpp"
#include "learn/config/run_config.hpp"

namespace headrace::config::detail {

// The sections of RUN.yaml behind the batch. `<section>_fields`: its keys, bound to the config's
// members; JSON, hash and lists of keys follow from them. `read_<section>` reads by them, refuses
// keys that are none of them, and checks what single keys can't show. Sections are read in this
// order, after the loader's (loader/config/loader_config_parts.hpp), since a later one may depend
// on those before.

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

}  // namespace headrace::config::detail
