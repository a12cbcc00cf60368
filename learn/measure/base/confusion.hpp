#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace::measure {

/// Pixel counts by truth (row) and prediction (column). Integers, so their order of addition does
/// not matter.
class Confusion {
 public:
  /// `untold`: by class, whether the labels have no name for it, so that it is never true, whatever
  /// the picture shows; it is counted, but has no figures. Empty: no such class.
  explicit Confusion(std::size_t classes, std::vector<bool> untold = {})
      : classes_(classes), counts_(classes * classes, 0), untold_(std::move(untold)) {
    untold_.resize(classes, false);
  }

  void add(std::size_t truth, std::size_t predicted, std::uint64_t count = 1) {
    counts_[truth * classes_ + predicted] += count;
  }
  Confusion& operator+=(const Confusion& other);

  std::size_t classes() const noexcept { return classes_; }
  std::uint64_t at(std::size_t truth, std::size_t predicted) const {
    return counts_[truth * classes_ + predicted];
  }
  std::uint64_t total() const;
  std::uint64_t truth_sum(std::size_t c) const;
  std::uint64_t predicted_sum(std::size_t c) const;

  bool told(std::size_t c) const { return !untold_[c]; }

  /// 2·TP / (2·TP + FP + FN); none where neither truth nor prediction has the class, and for an
  /// untold class.
  std::optional<double> dice(std::size_t c) const;
  std::optional<double> iou(std::size_t c) const;
  /// Mean over the classes from `first` on whose Dice is defined.
  std::optional<double> mean_dice(std::size_t first = 1) const;
  /// {pixels, matrix, dice{class}, iou{class}, mean_dice, accuracy}; undefined figures are null.
  Json to_json(const std::vector<std::string>& class_names) const;

 private:
  std::size_t classes_;
  std::vector<std::uint64_t> counts_;
  std::vector<bool> untold_;
};

}  // namespace headrace::measure
