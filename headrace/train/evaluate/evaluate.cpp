#include "headrace/train/evaluate/evaluate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "headrace/core/progress.hpp"
#include "headrace/inference/patch_grid.hpp"
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

/// Probabilities of batch after batch, from each process in turn.
class TilePredictions {
 public:
  TilePredictions(inference::Network& network, ranks::ProcessGroup* process_group,
                  ranks::GatherRows* gather_rows)
      : network_(network), process_group_(process_group), gather_rows_(gather_rows) {}

  std::span<const float> of(const loader::Batch& batch) {
    const auto size =
        static_cast<std::uint64_t>(process_group_ != nullptr ? process_group_->size() : 1);
    if (batch.index % size != 0)
      return gather_rows_->of(static_cast<int>(batch.index % size), batch.index / size);
    const auto probabilities = network_.predict(batch);
    if (process_group_ != nullptr)
      process_group_->barrier();  // the others have finished their batches of this round
    return probabilities;
  }

 private:
  inference::Network& network_;
  ranks::ProcessGroup* process_group_;
  ranks::GatherRows* gather_rows_;
};

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
    process_group.barrier();
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
  const loader::RunConfig on_host = inference::on_the_host(config, process_group);
  std::optional<ranks::GatherRows> gather_rows;
  if (process_group != nullptr) gather_rows.emplace(*process_group, batch_floats(*cohort, config));
  loader::Loader loader(cohort, on_host, plan, preprocessing, {.with_labels = true});
  const auto evaluator = (config.volumes ? make_volume_evaluator : make_slide_evaluator)(
      *cohort, config, options, plan->samples_per_epoch());
  const auto tile = inference::tile_zyx(config);
  const auto classes = static_cast<std::int64_t>(cohort->classes().size());
  inference::Stitcher stitcher(
      classes, inference::tile_window(config),
      [&](std::uint32_t image) { return inference::extent_zyx(cohort->images()[image], config); },
      [&](const inference::StitchedPart& part) { evaluator->add(part); });
  TilePredictions predictions(network, process_group, gather_rows ? &*gather_rows : nullptr);
  Progress progress("evaluate " + options.split, plan->samples_per_epoch(), "tiles");
  while (const auto batch = loader.next()) {
    const std::span<const float> probabilities = predictions.of(*batch);
    const std::int64_t pixels = tile[0] * tile[1] * tile[2];
    for (std::int64_t s = 0; s < batch->samples; ++s) {
      const loader::SampleSite& site = batch->sites[static_cast<std::size_t>(s)];
      const float* sample = probabilities.data() + s * classes * pixels;
      stitcher.add({site.image,
                    {site.tile_z, site.tile_yx[0], site.tile_yx[1]},
                    sample,
                    batch->labels + s * pixels});
      evaluator->offer(*batch, s, sample);
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

}  // namespace headrace::train
