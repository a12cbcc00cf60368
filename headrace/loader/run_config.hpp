#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/transform/graph.hpp"
#include "headrace/transform/spec.hpp"

namespace headrace::loader {

/// RUN.yaml (docs/runbook.md has every key). Everything but `task` and `data.store` has a default.
struct RunConfig {
  std::string task;                                // gleason | segmentation
  struct Data {
    std::string store, labels = "annotation", train = "train", val = "val";
    std::optional<std::string> expect_hash;        // refuse to run on another dataset
  } data;
  transform::PatchSpec patch;
  struct Sampling {
    std::uint64_t seed = 0;
    std::int64_t batch = 16, batches_per_epoch = 100;
    double foreground = 0.9;                       // part of the samples drawn by tissue or class, the rest anywhere on the slide
    std::string balance = "class";                 // class | tissue | image
  } sampling;
  std::vector<transform::TransformSpec> transforms;
  struct Loader {
    int threads = 0;                               // 0: every core
    int prefetch = 4;                              // batches
    std::string device = "auto";
  } loader;
  struct Model {
    std::string name = "unet2d";
    std::vector<int> widths{32, 64, 128, 256};
  } model;
  struct Train {
    std::int64_t epochs = 10;
    double lr = 1e-3, weight_decay = 1e-2;
    std::string schedule = "cosine";               // cosine | constant
    std::string amp = "auto";                      // auto | on | off
    std::int64_t checkpoint_every = 500;           // steps
    int threads = 0;                               // LibTorch's intra-op threads; part of the result's identity
    std::int64_t warmup_steps = 0;                 // the learning rate rises linearly over these
    double clip_norm = 1.0;                        // of the whole gradient; 0: no clipping
    double dice_weight = 1.0;                      // loss = cross-entropy + dice_weight · (1 - soft Dice)
    std::vector<double> class_weights;             // of the cross-entropy, one a class; empty: all 1
    std::int64_t log_every = 10;                   // steps a line of metrics.jsonl
    std::int64_t validate_every = 1;               // epochs; 0: only after the last
  } train;
  struct Eval {
    double overlap = 0.25;                         // part of the patch edge shared by neighbouring tiles
    std::int64_t batch = 16;
    double min_area = 0.05;                        // gleason: part of the cancer that a pattern needs to count
    std::int64_t bootstrap = 0;                    // gleason: resamples of the cases for the interval of kappa; 0: none
  } eval;

  /// Errors: usage, with file, line, key and the nearest valid key or value.
  static RunConfig load(const std::string& file);
  static RunConfig parse(const std::string& text, const std::string& name);
  /// In full, defaults filled in.
  Json to_json() const;
  /// SHA-256 of what decides the result: to_json without loader.threads, loader.prefetch and data.store's place.
  std::string hash() const;
};

}  // namespace headrace::loader
