#include "learn/predict/prediction_thread.hpp"

#include <utility>

namespace headrace::predict {
namespace {

std::size_t bytes_of(const BlendedPart& part) {
  return part.classes.size() + part.probabilities.size() * sizeof(float) + part.scores.size();
}

}  // namespace

PredictionThread::PredictionThread(ImagePrediction& prediction)
    : prediction_(prediction), thread_([this] { work(); }) {}

PredictionThread::~PredictionThread() { stop(); }

void PredictionThread::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return last_ || !parts_.empty(); });
    if (parts_.empty()) return;
    BlendedPart part = std::move(parts_.front());
    parts_.pop_front();
    const std::size_t bytes = bytes_of(part);
    lock.unlock();
    std::exception_ptr error;
    try {
      prediction_.add(std::move(part));
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    bytes_ -= bytes;
    if (error) {
      error_ = error;
      last_ = true;
      parts_.clear();
    }
    changed_.notify_all();
  }
}

void PredictionThread::add(BlendedPart part) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return bytes_ < kMostBytes || error_; });
  if (error_) std::rethrow_exception(error_);
  bytes_ += bytes_of(part);
  parts_.push_back(std::move(part));
  changed_.notify_all();
}

void PredictionThread::finish() {
  {
    const std::lock_guard lock(mutex_);
    last_ = true;
  }
  changed_.notify_all();
  thread_.join();
  if (error_) std::rethrow_exception(error_);
}

void PredictionThread::stop() noexcept {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    parts_.clear();
    last_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

}  // namespace headrace::predict
