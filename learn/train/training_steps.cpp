// The steps of a training: see training.hpp.
#include <algorithm>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"
#include "learn/train/feeding.hpp"
#include "learn/train/schedule.hpp"
#include "learn/train/training.hpp"

namespace headrace::train {
namespace {

constexpr std::size_t kLinesKept = 1 << 20;  // bytes, where metrics and checkpoints are rare

std::shared_future<std::uint64_t> known(std::uint64_t value) {
  std::promise<std::uint64_t> promise;
  promise.set_value(value);
  return promise.get_future().share();
}

}  // namespace

std::uint64_t Training::own_digest(const loader::Batch& batch) {
  return batch_digest(batch, own_share(config_, process_group_).first, digesting_);
}

std::shared_future<std::uint64_t> Training::digest(const loader::Batch& batch) {
  const Clock::time_point start = Clock::now();
  if (read_behind_ == 0) {
    digest_ = known(own_digest(batch));
  } else {
    if (digest_.valid()) digest_.wait();  // one copy of a batch at a time
    digest_ = std::async(std::launch::async, [this, copy = network_.copy_to_host(batch)] {
                return own_digest(copy());
              }).share();
  }
  times_.record_s += seconds_since(start);
  return digest_;
}

void Training::start_step(const loader::Batch& batch, Started started) {
  if (batch_is_recorded(config_, started.step)) started.batch = digest(batch);
  if (sum_) {
    const std::uint64_t own = started.batch.valid() ? started.batch.get() : 0;
    network_.put_parts(batch, *sum_);
    const Clock::time_point start = Clock::now();
    started.batch = known(times_.hear(sum_->sum(own_note(own).bytes())));
    times_.exchange_s += seconds_since(start);
    started.read = network_.finish_step(*sum_, started.rate);
  } else {
    network_.start_step(batch, started.rate);
  }
  started_.push_back(std::move(started));
}

bool Training::validates_after(std::int64_t step) const {
  const std::int64_t every = config_.train.validate_every * config_.sampling.batches_per_epoch;
  // That of the last step is the final evaluation.
  return step != total_steps_ && every > 0 && step % every == 0;
}

bool Training::reads_all_after(std::int64_t step) const {
  return step == total_steps_ || validates_after(step) ||
         step % config_.train.checkpoint_every == 0 ||
         weights_are_recorded(config_, step, total_steps_);
}

bool Training::read_steps(std::size_t but) {
  while (started_.size() > but) {
    const Started step = std::move(started_.front());
    started_.pop_front();
    inference::StepLosses losses;
    try {
      losses = step.read ? *step.read : network_.read_step();
    } catch (...) {
      started_.clear();  // what was started after it began with its weights
      throw;
    }
    if (losses.times && timed_by_stream())
      times_.add(*losses.times, step.waited_s, step.after_pause);
    if (!record(step, losses)) {
      ended_by_watcher_ = true;
      started_.clear();
      return false;
    }
    take(step, losses);
    if (!progress_) continue;
    progress_->note(fmt::format("loss {:.4g}", losses.total));
    progress_->advance();
  }
  return true;
}

bool Training::read_rest() {
  try {
    read_steps(0);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::diverged) throw;
  } catch (const std::exception&) {  // a GPU's, of what has failed already
  }
  try {
    write_steps();
  } catch (const std::exception&) {  // the error that is being told came first
  }
  return !ended_by_watcher_;
}

bool Training::record(const Started& started, const inference::StepLosses& losses) {
  if (!process_group_.first()) return true;
  StepRecord line{started.step, losses.total, losses.gradient_norm, {}, {}};
  const Clock::time_point start = Clock::now();
  if (batch_is_recorded(config_, line.step)) line.batch = started.batch.get();
  if (weights_are_recorded(config_, line.step, total_steps_))
    line.weights = network_.weights_sha256();
  times_.record_s += seconds_since(start);
  if (!steps_only_) step_lines_ += line.to_json().dump() + "\n";
  if (step_lines_.size() > kLinesKept) write_steps();
  return watcher_ == nullptr || watcher_->goes_on(line);
}

void Training::write_steps() {
  if (step_lines_.empty()) return;
  folder_.append_steps(step_lines_);
  step_lines_.clear();
}

bool Training::goes_on_after_step() {
  const bool due = state_.step == total_steps_ || state_.step % config_.train.checkpoint_every == 0;
  // Before the validation, which may take longer than a batch system waits before it kills, and not
  // again after it: what a kill leaves is a file of the unbroken run. A resume validates again.
  if (due && !has_checkpoint()) checkpoint();
  if (state_.to_validate && !validate()) {
    stop_if_asked();
    return false;
  }
  if (ends_early()) {
    checkpoint();  // with what ended it
    return false;
  }
  stop_if_asked();
  return !ended_by_watcher_;
}

void Training::steps_until_end() {
  if (state_.to_validate && !goes_on_after_step()) return;  // resumed at a checkpoint before it
  while (state_.step < total_steps_) {
    Started step{state_.step + 1, learning_rate(config_.train, state_.step, total_steps_)};
    step.after_pause = started_.empty();
    {
      const Clock::time_point asked = Clock::now();
      const auto batch = loader_->next();
      const Clock::time_point began = Clock::now();
      step.waited_s = std::chrono::duration<double>(began - asked).count();
      start_step(*batch, std::move(step));
      if (!timed_by_stream()) times_.step_s += seconds_since(began);
    }
    ++state_.step;
    if (!read_steps(reads_all_after(state_.step) ? 0 : read_behind_)) return;
    if (steps_only_) continue;
    state_.to_validate = validates_after(state_.step);
    if (!goes_on_after_step()) return;
  }
}

void Training::train_steps() {
  if (listen_for_stop_) stop_ = listen_for_stop_();
  const std::int64_t per_epoch = config_.sampling.batches_per_epoch;
  if (process_group_.first()) {
    progress_.emplace("train", static_cast<std::uint64_t>(total_steps_), "steps");
    progress_->begin_at(static_cast<std::uint64_t>(state_.step));
  }
  if (network_.on_gpu()) meter_.emplace(device::cuda::pci_bus_id());
  join_sum();
  loader_.emplace(
      cohort_, fed_config(config_, network_, ranks::share_of_cores(process_group_)), plan_,
      preprocessing_,
      loader::LoaderStart{.with_labels = true,
                          .first_epoch = static_cast<std::uint64_t>(state_.step / per_epoch),
                          .first_batch = static_cast<std::uint64_t>(state_.step % per_epoch),
                          .share = own_share(config_, process_group_)});
  const Clock::time_point start = Clock::now();
  try {
    steps_until_end();
  } catch (const std::exception&) {
    if (read_rest()) throw;
  }
  times_.loop_s = seconds_since(start);
  times_.loader = loader_->stats();
  times_.hear(process_group_.all_gather(own_note().bytes()));
  loader_.reset();
  progress_.reset();
  if (meter_) times_.gpu = meter_->usage();
  meter_.reset();
  stop_.reset();
}

}  // namespace headrace::train
