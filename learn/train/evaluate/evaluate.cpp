#include "learn/train/evaluate/evaluate.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "headrace/core/progress.hpp"
#include "headrace/loader/plan/sample_plan.hpp"
#include "learn/inference/batch_tiles.hpp"
#include "learn/inference/canvas_choice.hpp"
#include "learn/inference/host_canvas.hpp"
#include "learn/inference/patch_grid.hpp"
#include "learn/inference/tile_feed.hpp"
#include "learn/train/evaluate/evaluator.hpp"
#include "learn/train/evaluate/tile_predictions.hpp"

namespace headrace::train {

namespace {

/// The canvas of a split's images where the network is; null: on the host.
std::unique_ptr<inference::Canvas> canvas_there(const inference::Network& network,
                                                const cohort::Cohort& cohort,
                                                const config::RunConfig& config,
                                                const std::string& split, inference::PartUse use,
                                                inference::Canvas::Sink sink) {
  std::vector<std::uint32_t> images;
  for (std::uint32_t i = 0; i < cohort.images().size(); ++i) {
    if (cohort.images()[i].split == split) images.push_back(i);
  }
  const auto classes = static_cast<std::int64_t>(cohort.classes().size());
  return inference::canvas_there(network, {classes, cohort, config, images}, std::move(use),
                                 std::move(sink));
}

/// Every tile of a batch, for pictures. there: its probabilities are with the network.
void offer(TilePredictions& tiles, const TilePredictions::Made& made, bool there,
           inference::Network& network, std::int64_t classes, Evaluator& evaluator) {
  const std::span<const std::uint8_t> labels = made.labels();
  const auto pixels = static_cast<std::int64_t>(labels.size()) / made.batch.samples;
  for (std::int64_t s = 0; s < made.batch.samples; ++s) {
    OfferedTile tile;
    tile.site = made.batch.sites[static_cast<std::size_t>(s)];
    tile.truth =
        labels.subspan(static_cast<std::size_t>(s * pixels), static_cast<std::size_t>(pixels));
    tile.images = [&] { return tiles.sample_on_host(made, s); };
    tile.probabilities = [&] {
      if (there) return network.probabilities_of(s);
      const float* own = made.predicted.probabilities + s * classes * pixels;
      return std::vector<float>(own, own + classes * pixels);
    };
    evaluator.offer(tile);
  }
}

/// What was evaluated, and with which rules.
void put_facts(const cohort::Cohort& cohort, const config::RunConfig& config,
               const EvaluateOptions& options, const loader::Preprocessing& preprocessing,
               Json& out) {
  out["unknown_classes"] = cohort.class_match().ignored;
  out["missing_classes"] = cohort.class_match().missing;
  if (options.baseline != nullptr && !config.volumes) {
    out["baseline"] = majority_figures(*options.baseline, out);
    out["baseline"]["rule"] = options.baseline->to_json();
  }
  out["unknown_scanners"] = loader::unknown_scanners(preprocessing, cohort, options.split);
  out["split"] = options.split;
  if (config.data.folds > 0) {
    out["fold"] = {{"fold", config.data.fold},
                   {"folds", config.data.folds},
                   {"folds_seed", config.data.folds_seed}};
  }
  out["task"] = name_of(config.task);
  out["dataset_hash"] = cohort.dataset_hash();
  out["patch"] = config.to_json()["patch"];
}

}  // namespace

Evaluation evaluate(inference::Network& network,
                    const std::shared_ptr<const cohort::Cohort>& cohort,
                    const config::RunConfig& config, const EvaluateOptions& options,
                    ranks::ProcessGroup* process_group) {
  if (process_group != nullptr && process_group->size() == 1) process_group = nullptr;
  const auto start = std::chrono::steady_clock::now();
  const auto preprocessing = options.preprocessing
                                 ? options.preprocessing
                                 : std::make_shared<const loader::Preprocessing>(
                                       loader::Preprocessing::fit(*cohort, config));
  const auto plan =
      loader::make_tile_plan(*cohort, config, options.split, loader::beyond_body(*preprocessing));
  EvaluateOptions own = options;
  own.preprocessing = preprocessing;
  const auto evaluator = (config.volumes ? make_volume_evaluator : make_slide_evaluator)(
      *cohort, config, own, plan->samples_per_epoch());
  const auto classes = static_cast<std::int64_t>(cohort->classes().size());
  const auto window = inference::tile_window(config);
  const auto extent = [&](std::uint32_t image) {
    return inference::extent_zyx(cohort->images()[image], config);
  };
  const auto sink = [&](const inference::StitchedPart& part) { evaluator->add(part); };
  // Before the loader, which takes memory of the GPU too.
  auto canvas = canvas_there(network, *cohort, config, options.split, evaluator->part_use(), sink);
  const bool there = canvas != nullptr;
  if (!there) canvas = std::make_unique<inference::HostCanvas>(classes, window, sink, nullptr);
  inference::Stitcher stitcher(window, extent, std::move(canvas));

  TilePredictions predictions(network, there, cohort, config, plan, preprocessing, options,
                              process_group);
  std::vector<inference::TileResult> tiles;
  Progress progress("evaluate " + options.split, plan->samples_per_epoch(), "tiles");
  while (const auto made = predictions.next()) {
    inference::tiles_of(made->batch, made->predicted, classes, tiles);
    stitcher.add(tiles);
    if (made->labels) offer(predictions, *made, there, network, classes, *evaluator);
    progress.advance(static_cast<std::uint64_t>(made->batch.samples));
  }
  stitcher.finish();

  Evaluation out;
  evaluator->finish(out);
  put_facts(*cohort, config, options, *preprocessing, out.json);
  out.json["tiles"] = plan->samples_per_epoch();
  out.loader = predictions.stats();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  out.json["time"] = {{"wall_s", wall.count()}, {"data_wait_s", out.loader.data_wait_s}};
  return out;
}

TriedEvaluation try_evaluation(inference::Network& network,
                               const std::shared_ptr<const cohort::Cohort>& cohort,
                               const config::RunConfig& config, const EvaluateOptions& options,
                               ranks::ProcessGroup& process_group) {
  const auto canvas = process_group.first()
                          ? canvas_there(network, *cohort, config, options.split, {}, [](auto&) {})
                          : nullptr;
  const bool there = process_group.first() ? canvas != nullptr : network.blends_there();
  inference::TileFeed loader(cohort, tile_config(network, *cohort, config, there),
                             loader::make_tile_plan(*cohort, config, options.split,
                                                    loader::beyond_body(*options.preprocessing)),
                             options.preprocessing, {.with_labels = true, .count = 1});
  TriedEvaluation out;
  out.batches = loader.batches_per_epoch();
  const auto batch = loader.next();
  const auto start = std::chrono::steady_clock::now();
  network.predict(*batch);
  out.network_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

}  // namespace headrace::train
