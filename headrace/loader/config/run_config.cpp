#include "headrace/loader/config/run_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "headrace/core/error.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/loader/config/run_config_parts.hpp"

namespace headrace::loader {
namespace {

using detail::is_given_null;

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
  if (const auto value = map.find("channels")) {
    for (const YamlValue& entry : value->as_list()) {
      const std::string name = entry.as_string();
      if (std::find(data.channels.begin(), data.channels.end(), name) != data.channels.end())
        entry.reject(fmt::format("channel '{}' stands there twice", name));
      data.channels.push_back(name);
    }
    if (data.channels.empty()) value->reject("expected names of channels; leave it out for all");
  }
  if (!is_given_null(map, "version")) data.version = map.get_string("version", data.version);
  data.outside = map.get_choice("outside", data.outside, {"background", "ignore"});
  map.finish();
  return data;
}

/// The keys that decide where in an image a sample lies.
void parse_places(YamlMap& map, const RunConfig& config, RunConfig::Sampling& sampling) {
  sampling.lesion_size_power =
      map.get_double("lesion_size_power", sampling.lesion_size_power, 0, 1);
  sampling.background = map.get_double("background", sampling.background, 0, 1);
  sampling.near_lesions = map.get_double("near_lesions", sampling.near_lesions, 0, 1);
  if (sampling.near_lesions > 0 && config.data.labels.empty())
    map.find("near_lesions")->reject("needs labels, but data.labels is null");
  if (sampling.background + sampling.near_lesions > 1) {
    map.find("near_lesions")
        ->reject(fmt::format("this part and sampling.background ({}) are together more than 1",
                             sampling.background));
  }
  if (config.volumes) sampling.near_distance = 20;
  sampling.near_distance = map.get_double("near_distance", sampling.near_distance, 1e-3, 1e6);
  if (const auto value = map.find("near_classes")) {
    for (const YamlValue& entry : value->as_list())
      sampling.near_classes.push_back(entry.as_string());
  }
  sampling.order = map.get_choice("order", sampling.order, {"random", "cover"});
  if (sampling.order == "random") return;
  constexpr const char* kAlike =
      "has no meaning with sampling.order: cover, which visits all alike";
  if (!sampling.cohort_weights.empty()) map.find("cohort_weights")->reject(kAlike);
  if (sampling.lesion_size_power != RunConfig::Sampling().lesion_size_power)
    map.find("lesion_size_power")->reject(kAlike);
}

RunConfig::Sampling parse_sampling(YamlMap map, const RunConfig& config) {
  RunConfig::Sampling sampling;
  const bool has_labels = !config.data.labels.empty();
  const std::string inside = config.volumes ? "body" : "tissue";
  if (config.volumes) sampling.batch = 2;
  sampling.seed = static_cast<std::uint64_t>(map.get_int("seed", 0, 0, INT64_MAX));
  sampling.batch = map.get_int("batch", sampling.batch, 1, 4096);
  sampling.batches_per_epoch =
      map.get_int("batches_per_epoch", sampling.batches_per_epoch, 1, 100'000'000);
  sampling.foreground = map.get_double("foreground", sampling.foreground, 0, 1);
  sampling.balance = map.get_choice("balance", has_labels ? sampling.balance : inside,
                                    {"auto", "class", inside, "image"});
  if (sampling.balance == "class" && !has_labels) {
    map.find("balance")->reject(
        fmt::format("'class' needs labels, but data.labels is null. Use {} or image, or name the "
                    "labels",
                    inside));
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
  parse_places(map, config, sampling);
  map.finish();
  return sampling;
}

RunConfig::Loader parse_loader(YamlMap map) {
  RunConfig::Loader loader;
  loader.threads = static_cast<int>(map.get_int("threads", loader.threads, 0, 1024));
  loader.prefetch = static_cast<int>(map.get_int("prefetch", loader.prefetch, 1, 1024));
  loader.device = map.get_choice("device", loader.device, {"auto", "cpu", "cuda"});
  loader.element =
      map.get_choice("element", loader.element, {"auto", "float32", "bfloat16", "float16"});
  loader.layout =
      map.get_choice("layout", loader.layout, {"auto", "channels_first", "channels_last"});
  loader.device_memory_mib =
      map.get_int("device_memory_mib", loader.device_memory_mib, 0, 1'000'000'000);
  loader.decode = map.get_choice("decode", loader.decode, {"auto", "cpu", "gpu"});
  loader.gpudirect = map.get_choice("gpudirect", loader.gpudirect, {"auto", "on", "off"});
  if (loader.device == "cpu" && loader.decode == "gpu")
    map.find("decode")->reject("'gpu' is for batches made on a GPU, but loader.device is cpu");
  if (loader.gpudirect == "on" && (loader.device == "cpu" || loader.decode == "cpu")) {
    map.find("gpudirect")
        ->reject(fmt::format("'on' is for batches decoded on a GPU, but loader.{} is cpu",
                             loader.device == "cpu" ? "device" : "decode"));
  }
  map.finish();
  return loader;
}

RunConfig::Train parse_train(YamlMap map, const RunConfig& config) {
  RunConfig::Train train;
  train.epochs = map.get_int("epochs", train.epochs, 1, 1'000'000);
  train.lr = map.get_double("lr", train.lr, 1e-9, 10);
  train.weight_decay = map.get_double("weight_decay", train.weight_decay, 0, 10);
  train.schedule = map.get_choice("schedule", train.schedule, {"cosine", "poly", "constant"});
  train.amp = map.get_choice("amp", train.amp, {"auto", "on", "off"});
  train.deterministic = map.get_bool("deterministic", train.deterministic);
  train.gradient_parts = map.get_int("gradient_parts", train.gradient_parts, 1, 4096);
  if (config.sampling.batch % train.gradient_parts != 0) {
    map.find("gradient_parts")
        ->reject(fmt::format("{} parts can't be equal: sampling.batch is {}. Take a divisor of it",
                             train.gradient_parts, config.sampling.batch));
  }
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
  train.ema = map.get_double("ema", train.ema, 0, 0.999999);
  if (const auto value = map.find("freeze")) {
    for (const YamlValue& entry : value->as_list()) train.freeze.push_back(entry.as_string());
  }
  train.loss = detail::parse_loss(map.map("loss"));
  map.finish();
  return train;
}

RunConfig parse_map(YamlMap top, const std::string& name) {
  RunConfig config;
  // All sections first: an unknown word at the top (`pach:`) tells more than the errors that follow
  // from it.
  for (const char* section :
       {"data", "patch", "sampling", "transforms", "loader", "model", "train", "eval"}) {
    top.find(section);
  }
  config.task = top.require("task").as_choice({"gleason", "segmentation", "colorectal"});
  top.finish();
  config.data = parse_data(YamlMap(top.require("data")));
  detail::parse_patch(top.map("patch"), config);
  if (!config.volumes && !config.data.channels.empty())
    YamlMap(top.require("data")).find("channels")->reject("is for runs on volumes, not on slides");
  config.sampling = parse_sampling(top.map("sampling"), config);
  if (const auto list = top.find("transforms")) detail::parse_transform_list(*list, config);
  config.loader = parse_loader(top.map("loader"));
  config.model = detail::parse_model(top, config, name);
  config.train = parse_train(top.map("train"), config);
  config.eval = detail::parse_eval(top.map("eval"), config);
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
