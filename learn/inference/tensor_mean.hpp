#pragma once
#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "learn/inference/late_counts.hpp"
#include "learn/inference/run_agreement.hpp"
#include "learn/inference/tensor_sink.hpp"

namespace headrace::inference {

/// The mean of the canvases of several runs over the same tiles, where the models are: of each
/// pixel the sum of the means in the order of the runs, divided by their number. Parts wait here
/// until all runs have finished them. Nothing waits for a GPU. One thread.
///
/// memory  the finished parts of the runs that are ahead (working_bytes)
class TensorMean {
 public:
  /// to: gets the mean's parts.
  TensorMean(std::size_t runs, std::unique_ptr<TensorSink> to);

  /// For a run's canvas, which must be finished. Errors: internal, where the parts of runs differ.
  static std::unique_ptr<TensorSink> input(const std::shared_ptr<TensorMean>& mean,
                                           std::size_t run);
  /// The first run whose next parts are missing: the one to go on with, or if it has ended those
  /// after it. Parts of all runs never wait at once.
  std::size_t behind() const;
  /// Of an image of which all parts were delivered; images are taken in order, and those without
  /// any part have nothing. Waits for their device.
  RunAgreement take_agreement(std::uint32_t image);

 private:
  class Input;
  void take(std::size_t run, const TensorParts& parts);
  void end(std::size_t run);
  void check_ends() const;
  /// The next parts, which all runs have.
  void merge();
  void count(const std::vector<TensorParts>& parts);
  void close_image();

  std::unique_ptr<TensorSink> to_;
  std::vector<std::deque<TensorParts>> waiting_;  ///< by run
  std::vector<bool> ended_;
  std::optional<std::uint32_t> image_;  ///< whose pixels are counted
  at::Tensor counts_;                   ///< (2) int64: RunAgreement; undefined: no part yet
  LateCounts closed_;
};

}  // namespace headrace::inference
