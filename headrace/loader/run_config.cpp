#include "headrace/loader/run_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/core/yaml.hpp"

namespace headrace::loader {
namespace {

bool has_key(const YamlMap& map, const std::string& key) {
  const auto keys = map.keys();
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// A key that stands there as null: `labels: null` switches something off, which is not the same as
/// leaving it out.
bool is_given_null(YamlMap& map, const std::string& key) {
  return has_key(map, key) && !map.find(key);
}

std::string parse_task(YamlMap& top) {
  const YamlValue value = top.require("task");
  const std::string task = value.as_string();
  if (task == "colorectal") {
    value.reject(
        "'colorectal' needs volumes, which this version does not read. Use one of: gleason, "
        "segmentation");
  }
  return value.as_choice({"gleason", "segmentation"});
}

RunConfig::Data parse_data(YamlMap map) {
  RunConfig::Data data;
  const YamlValue store = map.require("store");
  data.store = store.as_string();
  if (data.store.empty()) store.reject("the path of a store is required, found nothing");
  data.labels = is_given_null(map, "labels") ? "" : map.get_string("labels", data.labels);
  data.train = map.get_string("train", data.train);
  data.val = map.get_string("val", data.val);
  if (const auto value = map.find("expect_hash")) {
    data.expect_hash = value->as_string();
    const bool hex = std::all_of(data.expect_hash->begin(), data.expect_hash->end(), [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    });
    if (!hex || data.expect_hash->size() != 64) {
      value->reject(
          fmt::format("expected a dataset hash of 64 lower-case hexadecimal digits, found '{}'. "
                      "headrace info STORE prints it",
                      *data.expect_hash));
    }
  }
  map.finish();
  return data;
}

void parse_patch(YamlMap map, RunConfig& config) {
  transform::PatchSpec& patch = config.patch;
  if (const auto value = map.find("size")) {
    const auto size = value->as_list(2);
    patch.height = static_cast<std::int32_t>(size[0].as_int(16, 8192));
    patch.width = static_cast<std::int32_t>(size[1].as_int(16, 8192));
  }
  config.patch_in_level0_pixels = is_given_null(map, "mpp");
  patch.mpp = config.patch_in_level0_pixels ? 1.0 : map.get_double("mpp", patch.mpp, 0.01, 1000);
  if (const auto value = map.find("context")) {
    patch.context.clear();
    for (const YamlValue& entry : value->as_list()) {
      const int context = static_cast<int>(entry.as_int(1, 64));
      if (patch.context.empty() && context != 1) {
        entry.reject(
            fmt::format("the first context is the patch itself and must be 1, found {}", context));
      }
      if (!patch.context.empty() && context <= patch.context.back()) {
        entry.reject(
            fmt::format("contexts must rise, found {} after {}", context, patch.context.back()));
      }
      patch.context.push_back(context);
    }
    if (patch.context.empty()) value->reject("expected at least [1], found an empty list");
  }
  map.finish();
}

RunConfig::Sampling parse_sampling(YamlMap map, const RunConfig::Data& data) {
  RunConfig::Sampling sampling;
  sampling.seed = static_cast<std::uint64_t>(map.get_int("seed", 0, 0, INT64_MAX));
  sampling.batch = map.get_int("batch", sampling.batch, 1, 4096);
  sampling.batches_per_epoch =
      map.get_int("batches_per_epoch", sampling.batches_per_epoch, 1, 100'000'000);
  sampling.foreground = map.get_double("foreground", sampling.foreground, 0, 1);
  const std::string fallback = data.labels.empty() ? "tissue" : "class";
  sampling.balance = map.get_choice("balance", fallback, {"class", "tissue", "image"});
  if (sampling.balance == "class" && data.labels.empty()) {
    map.find("balance")->reject(
        "'class' needs labels, but data.labels is null. Use tissue or image, or name the labels");
  }
  if (const auto value = map.find("cohort_weights")) {
    YamlMap weights(*value);
    double sum = 0;
    for (const std::string& cohort : weights.keys()) {
      const auto weight = weights.find(cohort);
      if (!weight)
        value->reject(
            fmt::format("cohort '{}' has no weight; give it a number, 0 to leave it out", cohort));
      sum += sampling.cohort_weights[cohort] = weight->as_double(0, 1e6);
    }
    if (!sampling.cohort_weights.empty() && sum <= 0)
      value->reject("every weight is 0; at least one must be above 0");
  }
  sampling.keep_inside = map.get_bool("keep_inside", sampling.keep_inside);
  map.finish();
  return sampling;
}

RunConfig::Loader parse_loader(YamlMap map) {
  RunConfig::Loader loader;
  loader.threads = static_cast<int>(map.get_int("threads", loader.threads, 0, 1024));
  loader.prefetch = static_cast<int>(map.get_int("prefetch", loader.prefetch, 1, 1024));
  loader.device = map.get_choice("device", loader.device, {"auto", "cpu", "cuda"});
  map.finish();
  return loader;
}

RunConfig::Model parse_model(YamlMap map, const transform::PatchSpec& patch,
                             const std::string& file) {
  RunConfig::Model model;
  model.name = map.get_choice("name", model.name, {"unet2d"});
  if (const auto value = map.find("widths")) {
    model.widths.clear();
    for (const YamlValue& entry : value->as_list()) {
      model.widths.push_back(static_cast<int>(entry.as_int(8, 4096)));
      if (model.widths.back() % 8 != 0) {
        entry.reject(fmt::format(
            "expected a multiple of 8 (channels are normalised in groups of 8), found {}",
            model.widths.back()));
      }
    }
    if (model.widths.size() < 2 || model.widths.size() > 8) {
      value->reject(fmt::format("expected 2 to 8 widths, found {}", model.widths.size()));
    }
  }
  const std::int32_t step = 1 << (model.widths.size() - 1);
  if (patch.height % step != 0 || patch.width % step != 0) {
    const std::string problem = fmt::format(
        "{} widths halve the patch {} times, so patch.size must be divisible by {}, found [{}, {}]",
        model.widths.size(), model.widths.size() - 1, step, patch.height, patch.width);
    const auto value = map.find("widths");
    if (value) value->reject(problem);
    fail(ErrorCode::usage, "{}: model.widths (default): {}", file, problem);
  }
  map.finish();
  return model;
}

RunConfig::Train parse_train(YamlMap map) {
  RunConfig::Train train;
  train.epochs = map.get_int("epochs", train.epochs, 1, 1'000'000);
  train.lr = map.get_double("lr", train.lr, 1e-9, 10);
  train.weight_decay = map.get_double("weight_decay", train.weight_decay, 0, 10);
  train.schedule = map.get_choice("schedule", train.schedule, {"cosine", "constant"});
  train.amp = map.get_choice("amp", train.amp, {"auto", "on", "off"});
  train.checkpoint_every = map.get_int("checkpoint_every", train.checkpoint_every, 1, 100'000'000);
  train.threads = static_cast<int>(map.get_int("threads", train.threads, 0, 1024));
  train.warmup_steps = map.get_int("warmup_steps", train.warmup_steps, 0, 100'000'000);
  train.clip_norm = map.get_double("clip_norm", train.clip_norm, 0, 1e6);
  train.dice_weight = map.get_double("dice_weight", train.dice_weight, 0, 1e3);
  if (const auto value = map.find("class_weights")) {
    double sum = 0;
    for (const YamlValue& entry : value->as_list()) {
      sum += train.class_weights.emplace_back(entry.as_double(0, 1e6));
    }
    if (!train.class_weights.empty() && sum <= 0) {
      value->reject("every weight is 0; at least one must be above 0");
    }
  }
  train.log_every = map.get_int("log_every", train.log_every, 1, 100'000'000);
  train.validate_every = map.get_int("validate_every", train.validate_every, 0, 1'000'000);
  map.finish();
  return train;
}

RunConfig::Eval parse_eval(YamlMap map, const std::string& task) {
  RunConfig::Eval eval;
  eval.overlap = map.get_double("overlap", eval.overlap, 0, 0.9);
  eval.batch = map.get_int("batch", eval.batch, 1, 4096);
  for (const char* key : {"min_cancer", "min_area", "bootstrap"}) {
    const auto value = map.find(key);
    if (value && task != "gleason") {
      value->reject(
          fmt::format("belongs to task: gleason, but the task is '{}'. Leave it out", task));
    }
  }
  eval.min_cancer = map.get_double("min_cancer", eval.min_cancer, 0, 1);
  eval.min_area = map.get_double("min_area", eval.min_area, 0, 1);
  eval.bootstrap = map.get_int("bootstrap", eval.bootstrap, 0, 1'000'000);
  map.finish();
  return eval;
}

RunConfig parse_map(YamlMap top, const std::string& name) {
  RunConfig config;
  // Every section first: an unknown word at the top (`pach:`) is worth more than what follows from
  // its absence.
  for (const char* section :
       {"data", "patch", "sampling", "transforms", "loader", "model", "train", "eval"}) {
    top.find(section);
  }
  config.task = parse_task(top);
  top.finish();
  config.data = parse_data(YamlMap(top.require("data")));
  parse_patch(top.map("patch"), config);
  config.sampling = parse_sampling(top.map("sampling"), config.data);
  if (const auto list = top.find("transforms")) {
    config.transforms = transform::parse_transforms(*list);
    // Whether the store has the image that stain_normalize names is found when it is opened.
    const auto any_colour = [](const std::string&) {
      ImageColour colour;
      colour.has_stain = true;
      colour.stain_od_rgb_he = {0.65, 0.07, 0.70, 0.99, 0.29, 0.11};
      colour.max_concentration = {1, 1};
      return colour;
    };
    with_context(list->location() + ": transforms",
                 [&] { transform::Graph::compile(config.transforms, config.patch, any_colour); });
  }
  config.loader = parse_loader(top.map("loader"));
  config.model = parse_model(top.map("model"), config.patch, name);
  config.train = parse_train(top.map("train"));
  config.eval = parse_eval(top.map("eval"), config.task);
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

}  // namespace headrace::loader
