#include "headrace/predict/tile_pass.hpp"

#include "headrace/core/ignore_label.hpp"
#include "headrace/inference/batch_place.hpp"
#include "headrace/inference/batch_tiles.hpp"
#include "headrace/inference/canvas_choice.hpp"
#include "headrace/inference/host_canvas.hpp"
#include "headrace/inference/patch_grid.hpp"
#include "headrace/inference/score_rows.hpp"
#include "headrace/predict/slide/tensor_scores.hpp"
#include "headrace/predict/volume/finding_rules.hpp"
#include "headrace/predict/volume/tensor_voxels.hpp"

namespace headrace::predict {

TilePass::TilePass(const TrainedRun& run, std::shared_ptr<const cohort::Cohort> cohort,
                   const std::vector<std::uint32_t>& images, const Options& options)
    : options_(options),
      network_(run.network),
      cohort_(std::move(cohort)),
      config_(inference::on_the_host(run.config)),
      pool_(config_.loader.threads),
      classes_(run.classes().size()) {
  if (options.batch > 0) config_.eval.batch = options.batch;
  const auto plan = loader::make_tile_plan(*cohort_, config_, images);
  tiles_ = plan->samples_per_epoch();
  if (tiles_ == 0) return;
  open_stitcher(run, images);
  loader::RunConfig fed = config_;
  if (there_) {
    fed = inference::where_the_model_is(run.config, {network_->on_gpu(), network_->channels()});
    fed.eval.batch = config_.eval.batch;
  }
  loader_ = std::make_unique<inference::TileFeed>(cohort_, fed, plan, run.preprocessing,
                                                  loader::LoaderStart{});
}

/// Findings need no more of the probabilities than bytes.
inference::PartUse TilePass::part_use(const TrainedRun& run) const {
  inference::PartUse use;
  if (config_.volumes) {
    const auto lesions = lesion_classes(run.classes(), config_);
    use.score_rows = classes_ + (lesions.empty() ? 0 : inference::kScoreRows);
    use.look = [lesions](inference::PartTensors& slices) {
      slices.scores = tensor_voxels(slices.means, lesions);
    };
  } else {
    use.score_rows = classes_ + 1;
    use.look = [scores = std::make_shared<TensorScores>(classes_)](inference::PartTensors& rows) {
      rows.scores = scores->of(rows.means);
    };
  }
  return use;
}

void TilePass::open_stitcher(const TrainedRun& run, const std::vector<std::uint32_t>& images) {
  const auto classes = static_cast<std::int64_t>(classes_);
  const auto window = inference::tile_window(config_);
  const auto sink = [this](inference::StitchedPart& part) { take(part); };
  std::unique_ptr<inference::Canvas> canvas;
  if (options_.alone && !options_.network) {
    canvas = inference::canvas_there(*run.network, classes, *cohort_, config_, images,
                                     part_use(run), sink);
  }
  there_ = canvas != nullptr;
  if (!there_) canvas = std::make_unique<inference::HostCanvas>(classes, window, sink, &pool_);
  stitcher_.emplace(
      window,
      [this](std::uint32_t image) {
        return inference::extent_zyx(cohort_->images()[image], config_);
      },
      std::move(canvas));
}

void TilePass::take(inference::StitchedPart& part) {
  parts_.push_back({part.image, part.at, {}, {}});
  if (!part.covered) return;
  parts_.back().classes = std::move(part.predicted);
  parts_.back().probabilities = std::move(part.probabilities);
  parts_.back().scores = std::move(part.scores);
}

void TilePass::predict_batch(const loader::Batch& batch) {
  inference::Network::There predicted;
  if (there_) {
    predicted = network_->predict_each_there(batch, options_.flips);
  } else if (options_.network) {
    predicted.probabilities = options_.network(batch).data();
  } else {
    predicted.probabilities = network_->predict_each(batch, options_.flips).data();
  }
  inference::tiles_of(batch, predicted, static_cast<std::int64_t>(classes_), batch_);
  stitcher_->add(batch_);
  done_ += static_cast<std::uint64_t>(batch.samples);
}

std::optional<BlendedPart> TilePass::next() {
  while (parts_.empty() && stitcher_) {
    if (const auto batch = loader_->next()) {
      predict_batch(*batch);
    } else {
      stitcher_->finish();
      stitcher_.reset();
    }
  }
  if (parts_.empty()) return std::nullopt;
  BlendedPart part = std::move(parts_.front());
  parts_.pop_front();
  if (part.classes.empty()) {
    const auto extent = inference::extent_zyx(cohort_->images()[part.image], config_);
    const auto pixels =
        static_cast<std::size_t>(config_.volumes ? extent[1] * extent[2] : extent[2]);
    part.classes.assign(pixels, kIgnoreLabel);
    if (there_) {
      part.scores.assign(pixels * (classes_ + 1), 0);
    } else {
      part.probabilities.assign(pixels * classes_, 0.0f);
    }
  }
  return part;
}

}  // namespace headrace::predict
