#include "headrace/loader/config/run_config.hpp"

#include <algorithm>
#include <filesystem>

#include "headrace/core/sha256.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/loader/config/run_config_parts.hpp"

namespace headrace::loader {
namespace {

Form transforms_form(RunConfig& config) {
  return {[&config](const YamlValue& list) { detail::read_transforms(list, config); },
          [&config] {
            return config.volumes ? transform::to_json(config.volume_transforms)
                                  : transform::to_json(config.transforms);
          },
          "a list of operations",
          {}};
}

/// All of RUN.yaml.
Fields run_fields(RunConfig& config) {
  const auto section = [](const char* key, Fields fields) {
    return Field{key, form::section(std::move(fields)), ""};
  };
  return {
      {"task", form::choice(config.task), "what is learnt and judged", "–"},
      section("data", detail::data_fields(config)),
      section("patch", detail::patch_fields(config)),
      section("sampling", detail::sampling_fields(config)),
      {"transforms", transforms_form(config), "in this order, in one pass"},
      section("loader", detail::loader_fields(config)),
      section("model", detail::model_fields(config)),
      section("train", detail::train_fields(config)),
      section("eval", detail::eval_fields(config)),
      detail::gates_field(config),
      detail::tracking_field(config),
  };
}

/// Defaults that differ between slides and volumes.
void suit_kind(RunConfig& config) {
  if (!config.volumes) return;
  config.sampling.batch = config.eval.batch = 2;
  config.sampling.near_distance = 20;
  config.model.name = NetworkName::unet3d;
}

RunConfig parse_map(YamlMap top, const std::string& name) {
  RunConfig config;
  // All sections first: an unknown word at the top (`pach:`) tells more than the errors that follow
  // from it.
  const Fields fields = run_fields(config);
  for (const Field& field : fields) top.find(field.key);
  fields.front().form.read(top.require("task"));
  top.finish();
  detail::read_data(YamlMap(top.require("data")), config);
  detail::read_patch(top.map("patch"), config);
  if (!config.volumes && !config.data.channels.empty())
    YamlMap(top.require("data")).find("channels")->reject("is for runs on volumes, not on slides");
  suit_kind(config);
  detail::read_sampling(top.map("sampling"), config);
  if (const auto list = top.find("transforms")) detail::read_transforms(*list, config);
  detail::read_loader(top.map("loader"), config);
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

RunConfig RunConfig::load(const std::string& file) {
  RunConfig config = parse_map(YamlMap::load(file), file);
  namespace fs = std::filesystem;
  const fs::path store = config.data.store;
  const fs::path beside = fs::path(file).parent_path() / store;
  if (store.is_relative() && !fs::exists(store) && fs::exists(beside))
    config.data.store = beside.string();
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
  return sha256_hex(dump_json(hashed_json(run_fields(copy))));
}

std::vector<KeyFacts> RunConfig::keys(bool volumes) {
  RunConfig config;
  config.volumes = volumes;
  suit_kind(config);
  return list_keys(run_fields(config));
}

bool RunConfig::decides_nothing(const std::string& key) {
  const auto all = keys(false);
  return std::any_of(all.begin(), all.end(),
                     [&](const KeyFacts& one) { return one.decides_nothing && one.key == key; });
}

}  // namespace headrace::loader
