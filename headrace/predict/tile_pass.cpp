#include "headrace/predict/tile_pass.hpp"

#include "headrace/core/ignore_label.hpp"
#include "headrace/inference/patch_grid.hpp"

namespace headrace::predict {

TilePass::TilePass(const TrainedRun& run, std::shared_ptr<const cohort::Cohort> cohort,
                   const std::vector<std::uint32_t>& images, const Options& options)
    : network_(options.network),
      cohort_(std::move(cohort)),
      config_(inference::on_the_host(run.config, nullptr)),
      pool_(config_.loader.threads),
      classes_(run.classes().size()) {
  if (!network_) {
    network_ = [network = run.network, flips = options.flips](const loader::Batch& batch) {
      return network->predict_each(batch, flips);
    };
  }
  if (options.batch > 0) config_.eval.batch = options.batch;
  const auto plan = loader::make_tile_plan(*cohort_, config_, images);
  tiles_ = plan->samples_per_epoch();
  if (tiles_ == 0) return;
  loader_ = std::make_unique<loader::Loader>(cohort_, config_, plan, run.preprocessing,
                                             loader::LoaderStart{});
  stitcher_.emplace(
      static_cast<std::int64_t>(run.classes().size()), inference::tile_window(config_),
      [this](std::uint32_t image) {
        return inference::extent_zyx(cohort_->images()[image], config_);
      },
      [this](inference::StitchedPart& part) {
        parts_.push_back({part.image, part.at, {}, {}});
        if (!part.covered) return;
        parts_.back().classes = std::move(part.predicted);
        parts_.back().probabilities = std::move(part.probabilities);
      },
      &pool_);
}

void TilePass::predict_batch(const loader::Batch& batch) {
  const std::span<const float> probabilities = network_(batch);
  const auto samples = static_cast<std::size_t>(batch.samples);
  const std::size_t floats = probabilities.size() / samples;
  batch_.clear();
  for (std::size_t s = 0; s < samples; ++s) {
    const loader::SampleSite& site = batch.sites[s];
    batch_.push_back({site.image,
                      {site.tile_z, site.tile_yx[0], site.tile_yx[1]},
                      probabilities.data() + s * floats,
                      nullptr});
  }
  stitcher_->add(batch_);
  done_ += samples;
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
    part.probabilities.assign(pixels * classes_, 0.0f);
  }
  return part;
}

}  // namespace headrace::predict
