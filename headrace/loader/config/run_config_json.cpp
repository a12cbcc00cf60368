#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "headrace/core/json.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/loader/config/run_config.hpp"
#include "headrace/loader/config/run_config_parts.hpp"

namespace headrace::loader {

namespace {

/// Section and key of those that RunConfig::decides_nothing names.
constexpr std::array<std::pair<const char*, const char*>, 7> kDecideNothing{
    {{"loader", "threads"},
     {"loader", "prefetch"},
     {"loader", "device_memory_mib"},
     {"loader", "gpudirect"},
     {"data", "store"},
     {"data", "expect_hash"},
     {"data", "version"}}};

Json data_json(const RunConfig::Data& data) {
  Json json = {{"store", data.store},
               {"labels", data.labels.empty() ? Json(nullptr) : Json(data.labels)},
               {"train", data.train},
               {"val", data.val},
               {"expect_hash", data.expect_hash ? Json(*data.expect_hash) : Json(nullptr)},
               {"version", data.version.empty() ? Json(nullptr) : Json(data.version)},
               {"outside", data.outside}};
  if (!data.channels.empty()) json["channels"] = data.channels;
  return json;
}

Json patch_json(const RunConfig& config) {
  const bool in_pixels = config.patch_in_level0_pixels;
  if (config.volumes) {
    const auto& patch = config.volume_patch;
    return {{"size", patch.size_zyx},
            {"spacing_mm", in_pixels ? Json(nullptr) : Json(patch.spacing_mm_zyx)}};
  }
  const auto& patch = config.patch;
  return {{"size", Json::array({patch.height, patch.width})},
          {"mpp", in_pixels ? Json(nullptr) : Json(patch.mpp)},
          {"context", patch.context}};
}

Json eval_json(const RunConfig& config) {
  const RunConfig::Eval& eval = config.eval;
  Json json = {{"overlap", eval.overlap}, {"window", eval.window}, {"batch", eval.batch}};
  if (config.task == "gleason") {
    json["min_cancer"] = eval.min_cancer;
    json["min_area"] = eval.min_area;
    json["grading"] = eval.grading;
    if (eval.grading == "biopsy") json["min_higher"] = eval.min_higher;
  }
  if (!config.volumes) {
    json["bootstrap"] = eval.bootstrap;
    json["tumour_classes"] = eval.tumour_classes;
    json["specificity"] = eval.specificity;
  }
  if (config.volumes) {
    json["bootstrap"] = eval.bootstrap;
    json["surface_tolerance_mm"] = eval.surface_tolerance_mm;
  }
  if (config.task == "colorectal") {
    json["lesion_probability"] = eval.lesion_probability;
    json["lesion_lowest"] = eval.lesion_lowest;
    json["lesion_diameters_mm"] = eval.lesion_diameters_mm;
    json["specificity"] = eval.specificity;
    json["lesion_min_mm3"] = eval.lesion_min_mm3;
    json["lesion_overlap"] = eval.lesion_overlap;
    json["lesion_classes"] = eval.lesion_classes;
  }
  return json;
}

Json model_json(const RunConfig& config) {
  const RunConfig::Model& model = config.model;
  Json json = {{"name", model.name}, {"widths", model.widths}, {"strides", model.strides}};
  if (config.volumes) json["kernels"] = model.kernels;
  return json;
}

/// Whether every axis is halved from level to level, and every kernel is 3.
bool is_uniform(const RunConfig::Model& model) {
  const auto all = [](const std::vector<int>& axes, int value) {
    return std::all_of(axes.begin(), axes.end(), [&](int v) { return v == value; });
  };
  return std::all_of(model.strides.begin() + (model.strides.empty() ? 0 : 1), model.strides.end(),
                     [&](const auto& axes) { return all(axes, 2); }) &&
         std::all_of(model.kernels.begin(), model.kernels.end(),
                     [&](const auto& axes) { return all(axes, 3); });
}

}  // namespace

Json RunConfig::to_json() const {
  return {{"task", task},
          {"data", data_json(data)},
          {"patch", patch_json(*this)},
          {"sampling",
           {{"seed", sampling.seed},
            {"batch", sampling.batch},
            {"batches_per_epoch", sampling.batches_per_epoch},
            {"foreground", sampling.foreground},
            {"balance", sampling.balance},
            {"cohort_weights", Json(sampling.cohort_weights)},
            {"keep_inside", sampling.keep_inside},
            {"lesion_size_power", sampling.lesion_size_power},
            {"background", sampling.background},
            {"near_lesions", sampling.near_lesions},
            {"near_distance", sampling.near_distance},
            {"near_classes", sampling.near_classes},
            {"order", sampling.order}}},
          {"transforms",
           volumes ? transform::to_json(volume_transforms) : transform::to_json(transforms)},
          {"loader",
           {{"threads", loader.threads},
            {"prefetch", loader.prefetch},
            {"device", loader.device},
            {"element", loader.element},
            {"layout", loader.layout},
            {"device_memory_mib", loader.device_memory_mib},
            {"decode", loader.decode},
            {"gpudirect", loader.gpudirect}}},
          {"model", model_json(*this)},
          {"train",
           {{"epochs", train.epochs},
            {"lr", train.lr},
            {"weight_decay", train.weight_decay},
            {"schedule", train.schedule},
            {"amp", train.amp},
            {"deterministic", train.deterministic},
            {"gradient_parts", train.gradient_parts},
            {"checkpoint_every", train.checkpoint_every},
            {"threads", train.threads},
            {"warmup_steps", train.warmup_steps},
            {"clip_norm", train.clip_norm},
            {"dice_weight", train.dice_weight},
            {"class_weights", train.class_weights},
            {"log_every", train.log_every},
            {"validate_every", train.validate_every},
            {"ema", train.ema},
            {"freeze", train.freeze},
            {"loss", detail::loss_json(train.loss)}}},
          {"eval", eval_json(*this)}};
}

bool RunConfig::decides_nothing(const std::string& key) {
  return std::any_of(std::begin(kDecideNothing), std::end(kDecideNothing), [&](const auto& one) {
    return key == fmt::format("{}.{}", one.first, one.second);
  });
}

std::string RunConfig::hash() const {
  Json json = to_json();
  for (const auto& [section, key] : kDecideNothing) json[section].erase(key);
  if (loader.decode != "gpu") json["loader"].erase("decode");
  for (const char* key : {"element", "layout"}) {
    if (json["loader"].at(key) == "auto") json["loader"].erase(key);
  }
  if (is_uniform(model)) {
    json["model"].erase("strides");
    json["model"].erase("kernels");
  }
  if (train.deterministic) json["train"].erase("deterministic");
  if (train.ema == 0) json["train"].erase("ema");
  if (train.loss.pixel == "cross_entropy" && train.loss.region == "dice") {
    json["train"].erase("loss");
  }
  if (train.freeze.empty()) json["train"].erase("freeze");
  if (train.gradient_parts == 1) json["train"].erase("gradient_parts");
  return sha256_hex(dump_json(json));
}

}  // namespace headrace::loader
