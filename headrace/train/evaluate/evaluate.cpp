#include "headrace/train/evaluate/evaluate.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "headrace/core/progress.hpp"
#include "headrace/inference/batch_place.hpp"
#include "headrace/inference/batch_tiles.hpp"
#include "headrace/inference/canvas_choice.hpp"
#include "headrace/inference/host_canvas.hpp"
#include "headrace/inference/patch_grid.hpp"
#include "headrace/inference/tile_feed.hpp"
#include "headrace/loader/plan/sample_plan.hpp"
#include "headrace/ranks/gather_rows.hpp"
#include "headrace/train/evaluate/evaluator.hpp"

namespace headrace::train {

namespace {

/// Floats of a full batch's probabilities.
std::size_t batch_floats(const cohort::Cohort& cohort, const loader::RunConfig& config) {
  const auto& volume = config.volume_patch.size_zyx;
  const std::int64_t pixels = config.volumes
                                  ? std::int64_t{1} * volume[0] * volume[1] * volume[2]
                                  : std::int64_t{1} * config.patch.height * config.patch.width;
  return cohort.classes().size() * static_cast<std::size_t>(config.eval.batch * pixels);
}

/// Ends a round, in which each process had a batch. All leave together: none waits for another.
void end_round(ranks::ProcessGroup* process_group, const EvaluateOptions& options) {
  int signal = options.asked_to_stop ? options.asked_to_stop() : 0;
  if (process_group != nullptr) {
    for (const std::string& other : process_group->all_gather(std::to_string(signal)))
      signal = std::max(signal, other.empty() ? 0 : std::stoi(other));
  }
  if (signal != 0) throw EvaluationStopped{signal};
}

/// Probabilities and labels of batch after batch, in the memory of the canvas; with several
/// processes from each in turn, on the host.
class TilePredictions {
 public:
  TilePredictions(inference::Network& network, bool there, const EvaluateOptions& options,
                  ranks::ProcessGroup* process_group, ranks::GatherRows* gather_rows)
      : network_(network),
        there_(there),
        options_(options),
        process_group_(process_group),
        gather_rows_(gather_rows) {}

  inference::Network::There of(const loader::Batch& batch) {
    if (!there_) return {on_host(batch).data(), batch.labels};
    const inference::Network::There predicted = network_.predict_there(batch);
    end_round(nullptr, options_);
    return predicted;
  }

 private:
  std::span<const float> on_host(const loader::Batch& batch) {
    const auto size =
        static_cast<std::uint64_t>(process_group_ != nullptr ? process_group_->size() : 1);
    if (batch.index % size != 0)
      return gather_rows_->of(static_cast<int>(batch.index % size), batch.index / size);
    const auto probabilities = network_.predict(batch);
    end_round(process_group_, options_);
    return probabilities;
  }

  inference::Network& network_;
  bool there_;
  const EvaluateOptions& options_;
  ranks::ProcessGroup* process_group_;
  ranks::GatherRows* gather_rows_;
};

/// The canvas of a split's images where the network is; null: on the host.
std::unique_ptr<inference::Canvas> canvas_there(const inference::Network& network,
                                                const cohort::Cohort& cohort,
                                                const loader::RunConfig& config,
                                                const std::string& split, inference::PartUse use,
                                                inference::Canvas::Sink sink) {
  std::vector<std::uint32_t> images;
  for (std::uint32_t i = 0; i < cohort.images().size(); ++i) {
    if (cohort.images()[i].split == split) images.push_back(i);
  }
  return inference::canvas_there(network, static_cast<std::int64_t>(cohort.classes().size()),
                                 cohort, config, images, std::move(use), std::move(sink));
}

/// The config of a loader of tiles that are blended there, or on the host.
loader::RunConfig tile_config(const inference::Network& network, const cohort::Cohort& cohort,
                              const loader::RunConfig& config, bool there,
                              ranks::ProcessGroup* process_group) {
  if (!there) return inference::on_the_host(config, process_group);
  return inference::where_the_model_is(
      config, {network.on_gpu(), network.channels(), cohort.class_match().keeps_values()});
}

/// Every tile of a batch, for pictures. labels: on the host; on_host: the batch's probabilities, null
/// where they are not there but with the model.
void offer(const loader::Batch& batch, std::span<const std::uint8_t> labels,
           inference::Network& network, const float* on_host, std::int64_t classes,
           Evaluator& evaluator) {
  const auto pixels = static_cast<std::int64_t>(labels.size()) / batch.samples;
  for (std::int64_t s = 0; s < batch.samples; ++s) {
    OfferedTile tile;
    tile.site = batch.sites[static_cast<std::size_t>(s)];
    tile.truth =
        labels.subspan(static_cast<std::size_t>(s * pixels), static_cast<std::size_t>(pixels));
    tile.images = [&] {
      const loader::Batch one = sample_of(batch, s);
      return one.device < 0 ? one : network.copy_to_host(one)();
    };
    tile.probabilities = [&] {
      if (on_host == nullptr) return network.probabilities_of(s);
      const float* own = on_host + s * classes * pixels;
      return std::vector<float>(own, own + classes * pixels);
    };
    evaluator.offer(tile);
  }
}

/// What was evaluated, and with which rules.
void put_facts(const cohort::Cohort& cohort, const loader::RunConfig& config,
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

void help_evaluate(inference::Network& network, const std::shared_ptr<const cohort::Cohort>& cohort,
                   const loader::RunConfig& config, const EvaluateOptions& options,
                   ranks::ProcessGroup& process_group) {
  const auto plan = loader::make_tile_plan(*cohort, config, options.split);
  const loader::RunConfig on_host = inference::on_the_host(config, &process_group);
  ranks::GatherRows gather_rows(process_group, batch_floats(*cohort, config));
  loader::Loader loader(cohort, on_host, plan, options.preprocessing,
                        {.share = {0, 0, process_group.rank(), process_group.size()}});
  const auto size = static_cast<std::uint64_t>(process_group.size());
  const std::uint64_t rounds = (loader.batches_per_epoch() + size - 1) / size;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    if (const auto batch = loader.next()) {
      const std::span<const float> probabilities = network.predict(*batch);
      std::copy(probabilities.begin(), probabilities.end(), gather_rows.mine(round).begin());
    }
    end_round(&process_group, options);
  }
}

Evaluation evaluate(inference::Network& network,
                    const std::shared_ptr<const cohort::Cohort>& cohort,
                    const loader::RunConfig& config, const EvaluateOptions& options,
                    ranks::ProcessGroup* process_group) {
  if (process_group != nullptr && process_group->size() == 1) process_group = nullptr;
  const auto start = std::chrono::steady_clock::now();
  const auto plan = loader::make_tile_plan(*cohort, config, options.split);
  const auto preprocessing = options.preprocessing
                                 ? options.preprocessing
                                 : std::make_shared<const loader::Preprocessing>(
                                       loader::Preprocessing::fit(*cohort, config));
  const auto evaluator = (config.volumes ? make_volume_evaluator : make_slide_evaluator)(
      *cohort, config, options, plan->samples_per_epoch());
  const auto classes = static_cast<std::int64_t>(cohort->classes().size());
  const auto window = inference::tile_window(config);
  const auto extent = [&](std::uint32_t image) {
    return inference::extent_zyx(cohort->images()[image], config);
  };
  const auto sink = [&](const inference::StitchedPart& part) { evaluator->add(part); };
  // Before the loader, which takes memory of the GPU too.
  auto canvas = process_group != nullptr ? nullptr
                                         : canvas_there(network, *cohort, config, options.split,
                                                        evaluator->part_use(), sink);
  const bool there = canvas != nullptr;
  if (!there) canvas = std::make_unique<inference::HostCanvas>(classes, window, sink, nullptr);
  inference::Stitcher stitcher(window, extent, std::move(canvas));

  const loader::RunConfig fed = tile_config(network, *cohort, config, there, process_group);
  std::optional<ranks::GatherRows> gather_rows;
  if (process_group != nullptr) gather_rows.emplace(*process_group, batch_floats(*cohort, config));
  inference::TileFeed loader(cohort, fed, plan, preprocessing, {.with_labels = true});
  TilePredictions predictions(network, there, options, process_group,
                              gather_rows ? &*gather_rows : nullptr);
  std::vector<inference::TileResult> tiles;
  Progress progress("evaluate " + options.split, plan->samples_per_epoch(), "tiles");
  while (const auto batch = loader.next()) {
    // In the stream before the network, so that they need not be waited for as long.
    std::function<std::span<const std::uint8_t>()> labels;
    if (options.montage > 0) labels = network.labels_on_host(*batch);
    const inference::Network::There predicted = predictions.of(*batch);
    inference::tiles_of(*batch, predicted, classes, tiles);
    stitcher.add(tiles);
    if (labels) {
      offer(*batch, labels(), network, there ? nullptr : predicted.probabilities, classes,
            *evaluator);
    }
    progress.advance(static_cast<std::uint64_t>(batch->samples));
  }
  stitcher.finish();

  Evaluation out;
  evaluator->finish(out);
  put_facts(*cohort, config, options, *preprocessing, out.json);
  out.json["tiles"] = plan->samples_per_epoch();
  out.loader = loader.stats();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  out.json["time"] = {{"wall_s", wall.count()}, {"data_wait_s", out.loader.data_wait_s}};
  return out;
}

TriedEvaluation try_evaluation(inference::Network& network,
                               const std::shared_ptr<const cohort::Cohort>& cohort,
                               const loader::RunConfig& config, const EvaluateOptions& options,
                               bool alone) {
  const auto canvas =
      alone ? canvas_there(network, *cohort, config, options.split, {}, [](auto&) {}) : nullptr;
  inference::TileFeed loader(cohort,
                             tile_config(network, *cohort, config, canvas != nullptr, nullptr),
                             loader::make_tile_plan(*cohort, config, options.split),
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
