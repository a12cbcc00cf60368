#include "headrace/core/json.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/loader/run_config.hpp"

namespace headrace::loader {

namespace {

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
  Json json = {{"overlap", eval.overlap}, {"batch", eval.batch}};
  if (config.task == "gleason") {
    json["min_cancer"] = eval.min_cancer;
    json["min_area"] = eval.min_area;
    json["grading"] = eval.grading;
    if (eval.grading == "biopsy") json["min_higher"] = eval.min_higher;
    json["bootstrap"] = eval.bootstrap;
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

}  // namespace

Json RunConfig::to_json() const {
  return {{"task", task},
          {"data",
           {{"store", data.store},
            {"labels", data.labels.empty() ? Json(nullptr) : Json(data.labels)},
            {"train", data.train},
            {"val", data.val},
            {"expect_hash", data.expect_hash ? Json(*data.expect_hash) : Json(nullptr)},
            {"version", data.version.empty() ? Json(nullptr) : Json(data.version)}}},
          {"patch", patch_json(*this)},
          {"sampling",
           {{"seed", sampling.seed},
            {"batch", sampling.batch},
            {"batches_per_epoch", sampling.batches_per_epoch},
            {"foreground", sampling.foreground},
            {"balance", sampling.balance},
            {"cohort_weights", Json(sampling.cohort_weights)},
            {"keep_inside", sampling.keep_inside}}},
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
          {"model", {{"name", model.name}, {"widths", model.widths}}},
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
            {"validate_every", train.validate_every}}},
          {"eval", eval_json(*this)}};
}

std::string RunConfig::hash() const {
  Json json = to_json();
  json["loader"].erase("threads");
  json["loader"].erase("prefetch");
  json["loader"].erase("device_memory_mib");
  json["loader"].erase("gpudirect");
  if (loader.decode != "gpu") json["loader"].erase("decode");
  for (const char* key : {"element", "layout"}) {
    if (json["loader"].at(key) == "auto") json["loader"].erase(key);
  }
  if (train.deterministic) json["train"].erase("deterministic");
  if (train.gradient_parts == 1) json["train"].erase("gradient_parts");
  json["data"].erase("store");
  json["data"].erase("expect_hash");
  json["data"].erase("version");
  return sha256_hex(dump_json(json));
}

}  // namespace headrace::loader
