#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "learn/predict/image_prediction.hpp"

namespace headrace::predict {

/// Gives parts to an image's prediction on a thread of its own, so that the network does not wait
/// for findings and files. One thread calls it.
///
/// memory  kMostBytes of parts that wait, and one part more
class PredictionThread {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  /// `prediction` must outlive it.
  explicit PredictionThread(ImagePrediction& prediction);
  /// Parts that still wait are dropped.
  ~PredictionThread();
  PredictionThread(const PredictionThread&) = delete;
  PredictionThread& operator=(const PredictionThread&) = delete;

  /// Waits while too much waits. Errors: that of an earlier part.
  void add(BlendedPart part);
  /// Waits until the prediction has all parts. None may follow. Errors: that of a part.
  void finish();

 private:
  void work();
  void stop() noexcept;

  ImagePrediction& prediction_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<BlendedPart> parts_;
  std::size_t bytes_ = 0;
  bool last_ = false;  ///< no part follows
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace headrace::predict
