#pragma once
#include <string>

#include "headrace/core/yaml.hpp"
#include "headrace/loader/config/run_config.hpp"

namespace headrace::loader::detail {

// The sections of RUN.yaml that differ between slides and volumes. Each reads its whole mapping and
// refuses keys that do not belong there.

bool has_key(const YamlMap& map, const std::string& key);
/// True where the key is present and null: `labels: null` switches something off, unlike a missing
/// key.
bool is_given_null(YamlMap& map, const std::string& key);

/// Sets config.volumes from config.task and the size, then patch or volume_patch.
void parse_patch(YamlMap map, RunConfig& config);
/// Reads and compiles transforms or volume_transforms.
void parse_transform_list(const YamlValue& list, RunConfig& config);
/// Takes the whole config, since `model: auto` is not a mapping. Plans the network
/// (network_plan.hpp).
RunConfig::Model parse_model(YamlMap& top, const RunConfig& config, const std::string& file);
RunConfig::Train::Loss parse_loss(YamlMap map);
Json loss_json(const RunConfig::Train::Loss& loss);
RunConfig::Eval parse_eval(YamlMap map, const RunConfig& config);

}  // namespace headrace::loader::detail
