#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/core/json.hpp"
#include "learn/config/run_config.hpp"

namespace headrace::train {

/// A prediction that does not look at pixels, made from the training split: the reference for a
/// network's figures.
///
/// For volumes it draws a ball for every class above 0 that a training volume has: with the mean
/// volume of the class in the training volumes that have it, at its mean place in the box around
/// the body (place and amount are from the sampler's index, so accurate to a cell). In an evaluated
/// volume the ball lies at the same place of its body's box; where balls meet, the one whose centre
/// is nearer, in its radii, wins. For slides it predicts everywhere the class above 0 with the most
/// annotated pixels.
struct Baseline {
  struct Ball {
    double volume_mm3 = 0;
    std::array<double, 3> centre_zyx{};  ///< in the box around the body, 0 to 1 along each axis
  };
  std::vector<std::string> classes;
  std::vector<std::optional<Ball>> balls;  ///< of volumes, by class
  std::optional<std::size_t> majority;     ///< for slides; none: nothing above 0 is annotated

  Json to_json() const;  ///< {balls{name: {volume_mm3, centre_zyx}}} or {majority: name}
  /// For the classes of another store; classes that it lacks are left out.
  static Baseline from_json(const Json& json, const std::vector<std::string>& classes);
};

/// From the run's training split. Errors: usage (no image in it).
Baseline fit_baseline(const cohort::Cohort& cohort, const config::RunConfig& config);

/// A volume's balls on its level 0.
class BallSlices {
 public:
  BallSlices(const Baseline& baseline, const cohort::Cohort& cohort, std::uint32_t image);
  /// Probabilities (classes, y, x) of slice z, 0 or 1; live until the next call.
  std::span<const float> slice(std::int64_t z);

 private:
  struct Placed {
    std::size_t class_value = 0;
    double radius_mm = 0;
    std::array<double, 3> centre_mm{};  ///< from the corner of voxel (0, 0, 0)
  };
  std::array<std::int64_t, 3> shape_{};
  std::array<double, 3> spacing_{};
  std::vector<Placed> balls_;
  std::vector<float> slice_;
};

/// Figures of the majority class for each group of a slide evaluation, from the truth in its
/// matrices: {overall, cohorts{}, scanners{}} with dice{}, mean_dice, accuracy, and
/// gleason.kappa: that of one grade for every slide.
Json majority_figures(const Baseline& baseline, const Json& evaluation);

}  // namespace headrace::train
