#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/pixels/image.hpp"

namespace headrace::train {

/// Prediction and truth of a picture, row by row: classes, label values, 255 where there is none.
struct LabelPicture {
  std::int64_t height = 0, width = 0;
  std::vector<std::uint8_t> predicted, truth;
};

/// An evaluated image that may be shown.
struct ShownImage {
  std::uint32_t image = 0;
  std::string id;
  double value = 0;  ///< its figure
  /// Of a slide: all of it. Of a volume: the slice with the most wrong voxels, and the one with the
  /// most annotated ones.
  LabelPicture labels, labels_of_truth;
  std::int64_t slice = 0, slice_of_truth = 0;
};

/// The images with the lowest and the highest figures of all that are offered, in memory for a few;
/// equal ones by id. One thread.
class ExampleKeeper {
 public:
  static constexpr std::size_t kWorst = 4, kBest = 2;

  /// Whether an image of this figure would be kept now.
  bool wants(double value, const std::string& id) const;
  void offer(ShownImage image);
  /// Counts an image that is not wanted, instead of offering it.
  void pass() { ++offered_; }
  bool empty() const { return worst_.empty(); }

  struct Example {
    bool worst = false;
    int number = 0;  ///< 1 is the worst, or the best
    const ShownImage* image = nullptr;
  };
  /// Worst first, then best first; never an image twice: of n images at most n / 3 are best.
  std::vector<Example> chosen() const;

 private:
  std::vector<ShownImage> worst_, best_;
  std::uint64_t offered_ = 0;
};

/// An example with its pictures, for the report.
struct ExamplePictures {
  bool worst = false;
  int number = 0;
  std::string image, figure;  ///< its id; the name of the figure
  double value = 0;
  std::int64_t slice = 0, slices = 0;  ///< of a volume
  pixels::Image8 original, truth, prediction;
};

}  // namespace headrace::train
