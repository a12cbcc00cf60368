#include "learn/predict/tile_pass.hpp"

#include <utility>

#include "learn/inference/batch_place.hpp"
#include "learn/inference/batch_tiles.hpp"
#include "learn/inference/host_canvas.hpp"
#include "learn/inference/patch_grid.hpp"

namespace headrace::predict {
namespace {

loader::LoaderConfig in_batches_of(loader::LoaderConfig config, std::int64_t batch) {
  config.tiles.batch = batch;
  return config;
}

}  // namespace

TilePass::TilePass(const TrainedRun& run, std::shared_ptr<const cohort::Cohort> cohort,
                   const std::vector<std::uint32_t>& images, const Options& options)
    : options_(options),
      run_(run),
      cohort_(std::move(cohort)),
      classes_(static_cast<std::int64_t>(run.classes().size())),
      pool_(run.config.loader.threads) {
  if (options_.batch <= 0) options_.batch = run.config.tiles.batch;
  plan_ = loader::make_tile_plan(*cohort_, in_batches_of(run.config, batch()), images,
                                 loader::beyond_body(*run.preprocessing));
}

void TilePass::start_here(inference::Canvas::Sink sink) {
  start(inference::on_the_host(run_.config),
        std::make_unique<inference::HostCanvas>(classes_, inference::tile_window(run_.config),
                                                std::move(sink), &pool_));
}

void TilePass::start_there(std::unique_ptr<inference::Canvas> canvas) {
  there_ = true;
  const inference::BatchPlace place{run_.network->on_gpu(), run_.network->channels()};
  start(inference::where_the_model_is(run_.config, place), std::move(canvas));
}

void TilePass::start(const loader::LoaderConfig& config,
                     std::unique_ptr<inference::Canvas> canvas) {
  if (tiles() == 0) return;
  stitcher_.emplace(
      inference::tile_window(run_.config),
      [this](std::uint32_t image) {
        return inference::extent_zyx(cohort_->images()[image], run_.config);
      },
      std::move(canvas));
  loader_ = std::make_unique<inference::TileFeed>(cohort_, in_batches_of(config, batch()), plan_,
                                                  run_.preprocessing, loader::LoaderStart{});
}

void TilePass::predict_batch(const loader::Batch& batch) {
  inference::Network::There predicted;
  if (there_) {
    predicted = run_.network->predict_each_there(batch, options_.flips);
  } else if (options_.network) {
    predicted.probabilities = options_.network(batch).data();
  } else {
    predicted.probabilities = run_.network->predict_each(batch, options_.flips).data();
  }
  inference::tiles_of(batch, predicted, classes_, batch_);
  stitcher_->add(batch_);
  done_ += static_cast<std::uint64_t>(batch.samples);
}

bool TilePass::step() {
  if (!stitcher_) return false;
  if (const auto batch = loader_->next()) {
    predict_batch(*batch);
  } else {
    stitcher_->finish();
    stitcher_.reset();
  }
  return true;
}

}  // namespace headrace::predict
