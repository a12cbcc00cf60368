#include "headrace/core/json.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/loader/run_config.hpp"

namespace headrace::loader {

Json RunConfig::to_json() const {
  const Json mpp = patch_in_level0_pixels ? Json(nullptr) : Json(patch.mpp);
  Json json = {
      {"task", task},
      {"data",
       {{"store", data.store},
        {"labels", data.labels.empty() ? Json(nullptr) : Json(data.labels)},
        {"train", data.train},
        {"val", data.val},
        {"expect_hash", data.expect_hash ? Json(*data.expect_hash) : Json(nullptr)}}},
      {"patch",
       {{"size", Json::array({patch.height, patch.width})},
        {"mpp", mpp},
        {"context", patch.context}}},
      {"sampling",
       {{"seed", sampling.seed},
        {"batch", sampling.batch},
        {"batches_per_epoch", sampling.batches_per_epoch},
        {"foreground", sampling.foreground},
        {"balance", sampling.balance},
        {"cohort_weights", Json(sampling.cohort_weights)},
        {"keep_inside", sampling.keep_inside}}},
      {"transforms", transform::to_json(transforms)},
      {"loader",
       {{"threads", loader.threads}, {"prefetch", loader.prefetch}, {"device", loader.device}}},
      {"model", {{"name", model.name}, {"widths", model.widths}}},
      {"train",
       {{"epochs", train.epochs},
        {"lr", train.lr},
        {"weight_decay", train.weight_decay},
        {"schedule", train.schedule},
        {"amp", train.amp},
        {"checkpoint_every", train.checkpoint_every},
        {"threads", train.threads},
        {"warmup_steps", train.warmup_steps},
        {"clip_norm", train.clip_norm},
        {"dice_weight", train.dice_weight},
        {"class_weights", train.class_weights},
        {"log_every", train.log_every},
        {"validate_every", train.validate_every}}},
      {"eval", {{"overlap", eval.overlap}, {"batch", eval.batch}}}};
  if (task == "gleason") {
    json["eval"]["min_cancer"] = eval.min_cancer;
    json["eval"]["min_area"] = eval.min_area;
    json["eval"]["bootstrap"] = eval.bootstrap;
  }
  return json;
}

std::string RunConfig::hash() const {
  Json json = to_json();
  json["loader"].erase("threads");
  json["loader"].erase("prefetch");
  json["data"].erase("store");
  json["data"].erase("expect_hash");
  return sha256_hex(dump_json(json));
}

}  // namespace headrace::loader
