#include "learn/config/run_config.hpp"

#include <algorithm>
#include <utility>

#include "headrace/core/sha256.hpp"
#include "headrace/core/yaml.hpp"
#include "learn/config/run_config_parts.hpp"

namespace headrace::config {
namespace {

/// All of RUN.yaml.
Fields run_fields(RunConfig& config) {
  const auto section = [](const char* key, Fields fields) {
    return Field{key, form::section(std::move(fields)), ""};
  };
  Fields fields = loader::detail::loader_sections(config);
  for (Field& field : Fields{section("model", detail::model_fields(config)),
                             section("train", detail::train_fields(config)),
                             section("eval", detail::eval_fields(config)),
                             detail::gates_field(config), detail::tracking_field(config)})
    fields.push_back(std::move(field));
  return fields;
}

/// Defaults behind the batch that differ between slides and volumes.
void suit_kind(RunConfig& config) {
  if (config.volumes) config.model.name = NetworkName::unet3d;
}

RunConfig parse_map(YamlMap top, const std::string& name) {
  RunConfig config;
  for (const Field& field : run_fields(config)) top.find(field.key);
  loader::detail::read_loader_sections(top, config);
  suit_kind(config);
  detail::read_model(top, name, config);
  detail::read_train(top.map("train"), config);
  detail::read_eval(top.map("eval"), config);
  if (const auto list = top.find("gates")) detail::read_gates(*list, config);
  if (const auto list = top.find("tracking")) detail::read_tracking(*list, config);
  return config;
}

}  // namespace

RunConfig RunConfig::parse(const std::string& text, const std::string& name) {
  return parse_map(YamlMap::parse(text, name), name);
}

RunConfig RunConfig::read(const std::string& file) {
  RunConfig config = parse_map(YamlMap::load(file), file);
  loader::detail::find_store_beside(file, config);
  return config;
}

RunConfig RunConfig::load(const std::string& file) {
  RunConfig config = read(file);
  config.use_network();
  return config;
}

Json RunConfig::to_json() const {
  RunConfig copy = *this;  // fields are bound to what may be changed
  return fields_json(run_fields(copy));
}

Json RunConfig::tracking_json() const {
  RunConfig copy = *this;
  return detail::tracking_field(copy).form.json();
}

std::string RunConfig::hash() const {
  RunConfig copy = *this;
  Json hashed = hashed_json(run_fields(copy));
  hashed["task"] = hashed_name(task);
  return sha256_hex(dump_json(hashed));
}

std::string_view hashed_name(loader::Task task) {
  switch (task) {
    case loader::Task::grading:
      return "gleason";
    case loader::Task::lesions:
      return "colorectal";
    case loader::Task::segmentation:
      break;
  }
  return name_of(task);
}

std::vector<KeyFacts> RunConfig::keys(bool volumes) {
  RunConfig config;
  config.volumes = volumes;
  loader::detail::suit_kind(config);
  suit_kind(config);
  return list_keys(run_fields(config));
}

bool RunConfig::decides_nothing(const std::string& key) {
  const auto all = keys(false);
  return std::any_of(all.begin(), all.end(),
                     [&](const KeyFacts& one) { return one.decides_nothing && one.key == key; });
}

}  // namespace headrace::config
