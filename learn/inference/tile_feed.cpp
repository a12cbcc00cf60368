#include "learn/inference/tile_feed.hpp"

#include <utility>

#include "headrace/core/log.hpp"
#include "learn/inference/batch_place.hpp"

namespace headrace::inference {

TileFeed::TileFeed(std::shared_ptr<const cohort::Cohort> cohort, const loader::LoaderConfig& config,
                   std::shared_ptr<const loader::SamplePlan> plan,
                   std::shared_ptr<const loader::Preprocessing> preprocessing,
                   const loader::LoaderStart& start)
    : cohort_(std::move(cohort)),
      config_(config),
      plan_(std::move(plan)),
      preprocessing_(std::move(preprocessing)),
      start_(start) {
  try {
    open();
  } catch (const Error& error) {
    if (!goes_on_without(error)) throw;
    open();
  }
}

void TileFeed::open() {
  loader_.reset();  // its memory first
  loader_ = std::make_unique<loader::Loader>(cohort_, config_, plan_, preprocessing_, start_);
}

bool TileFeed::goes_on_without(const Error& error) {
  if (config_.loader.device != device::DeviceChoice::cuda) return false;
  if (error.code() != ErrorCode::memory && error.code() != ErrorCode::unsupported) return false;
  log::warning("batches of tiles are made on the CPU from here on: {}", error.what());
  config_ = on_the_host(config_);
  return true;
}

std::optional<loader::Batch> TileFeed::next() {
  std::optional<loader::Batch> batch;
  try {
    batch = loader_->next();
  } catch (const Error& error) {
    if (!goes_on_without(error)) throw;
    open();
    batch = loader_->next();
  }
  if (batch) {
    start_.first_batch = batch->index + 1;
    if (start_.count) --*start_.count;
  }
  return batch;
}

}  // namespace headrace::inference
