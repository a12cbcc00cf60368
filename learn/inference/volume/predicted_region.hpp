#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "headrace/cohort/body_region.hpp"
#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/plan/preprocessing.hpp"

namespace headrace::inference {

/// The one rule, of evaluation and prediction, about what is predicted beyond the body: windows
/// cover the box around it, and a network has not learnt what air is not.
///
/// Outside of cohort::BodyRegion nothing is predicted, but for the classes that the training labels
/// have there (Preprocessing::outside_body): if there are such, what is of another class there
/// counts as background. One thread.
class PredictedRegion {
 public:
  /// lesion_classes: whose probability a lesion's score is of; empty: there are none.
  PredictedRegion(const cohort::Cohort& cohort, std::uint32_t image,
                  const loader::Preprocessing& preprocessing,
                  std::span<const std::uint8_t> lesion_classes);

  /// Slice z of level 0: where nothing is predicted, classes become `nothing` and lesion scores 0.
  ///
  /// in/out  classes  (y, x)
  ///         lesion   (y, x), or empty
  void limit(std::int64_t z, std::span<std::uint8_t> classes, std::span<std::uint16_t> lesion,
             std::uint8_t nothing);

 private:
  cohort::BodyRegion region_;
  std::vector<bool> kept_;  ///< by class: what is predicted outside of the region
  bool any_kept_ = false, lesion_kept_ = false;
};

}  // namespace headrace::inference
