#include "headrace/loader/config/loader_config.hpp"

#include <filesystem>

#include "headrace/loader/config/loader_config_parts.hpp"
#include "headrace/storage/network_hosts.hpp"
#include "headrace/transform/slide/slide_spec.hpp"
#include "headrace/transform/volume/volume_spec.hpp"

namespace headrace::loader {
namespace {

Form transforms_form(LoaderConfig& config) {
  return {[&config](const YamlValue& list) { detail::read_transforms(list, config); },
          [&config] {
            return config.volumes ? transform::to_json(config.volume_transforms)
                                  : transform::to_json(config.transforms);
          },
          "a list of operations",
          {}};
}

/// By any name of a task; the first is written.
Form task_form(LoaderConfig& config) {
  return form::one_of(
      names_of<Task>(),
      [&config](const std::string& name) { config.task = *value_named<Task>(name); },
      [&config] { return name_of(config.task); });
}

/// Reads single keys of a section whose other keys are not the loader's.
void read_of_section(YamlMap& top, const char* section, const Fields& fields) {
  YamlMap map = top.map(section);
  read_fields(map, fields);
}

LoaderConfig parse_map(YamlMap top) {
  LoaderConfig config;
  for (const Field& field : detail::loader_sections(config)) top.find(field.key);
  for (const char* section : detail::kSectionsBehindTheBatch) top.find(section);
  detail::read_loader_sections(top, config);
  read_of_section(top, "train", {detail::amp_field(config)});
  read_of_section(top, "eval",
                  {detail::tile_overlap_field(config), detail::tile_batch_field(config)});
  return config;
}

}  // namespace

LoaderConfig LoaderConfig::parse(const std::string& text, const std::string& name) {
  return parse_map(YamlMap::parse(text, name));
}

LoaderConfig LoaderConfig::load(const std::string& file) {
  LoaderConfig config = parse_map(YamlMap::load(file));
  detail::find_store_beside(file, config);
  config.use_network();
  return config;
}

void LoaderConfig::use_network() const {
  storage::name_host_of(data.store);
  storage::set_network(network);
}

namespace detail {

Field amp_field(LoaderConfig& config) {
  return {"amp", form::choice(config.loader.amp), "mixed precision; auto: on a GPU"};
}

Field tile_overlap_field(LoaderConfig& config) {
  return {"overlap", form::number(config.tiles.overlap, 0, 0.9),
          "part of the edge that neighbouring tiles share"};
}

Field tile_batch_field(LoaderConfig& config) {
  return {"batch", form::number(config.tiles.batch, 1, 4096), "tiles of a batch"};
}

Fields loader_sections(LoaderConfig& config) {
  const auto section = [](const char* key, Fields fields) {
    return Field{key, form::section(std::move(fields)), ""};
  };
  return {
      {"task", task_form(config), "what is learnt and judged", "–"},
      section("data", data_fields(config)),
      section("patch", patch_fields(config)),
      section("sampling", sampling_fields(config)),
      {"transforms", transforms_form(config), "in this order, in one pass"},
      views_field(config),
      section("loader", loader_fields(config)),
      section("network", network_fields(config))
          .decides_nothing()
          .written_if(config.network != storage::NetworkOptions{}),
  };
}

void read_loader_sections(YamlMap& top, LoaderConfig& config) {
  task_form(config).read(top.require("task"));
  top.finish();
  read_data(YamlMap(top.require("data")), config);
  read_patch(top.map("patch"), config);
  if (!config.volumes && !config.data.channels.empty())
    YamlMap(top.require("data")).find("channels")->reject("is for runs on volumes, not on slides");
  suit_kind(config);
  read_sampling(top.map("sampling"), config);
  if (const auto list = top.find("transforms")) read_transforms(*list, config);
  if (const auto list = top.find("views")) read_views(*list, config);
  read_loader(top.map("loader"), config);
  read_network(top.map("network"), config);
}

void suit_kind(LoaderConfig& config) {
  if (!config.volumes) return;
  config.sampling.batch = config.tiles.batch = 2;
  config.sampling.near_distance = 20;
}

void find_store_beside(const std::string& file, LoaderConfig& config) {
  namespace fs = std::filesystem;
  const fs::path store = config.data.store;
  const fs::path beside = fs::path(file).parent_path() / store;
  if (store.is_relative() && !fs::exists(store) && fs::exists(beside))
    config.data.store = beside.string();
}

}  // namespace detail
}  // namespace headrace::loader
