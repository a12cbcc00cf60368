#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "headrace/predict/tile_pass.hpp"

namespace headrace::predict {

/// The mean of several runs over the tiles of some images, part by part: of each pixel the mean of
/// the runs' probabilities in the order of the runs, and of it the class with the largest, the
/// lower of equals. One run's values do not change. One thread.
class EnsemblePass {
 public:
  EnsemblePass(const std::vector<TrainedRun>& runs,
               const std::shared_ptr<const cohort::Cohort>& cohort,
               const std::vector<std::uint32_t>& images, const TilePass::Options& options);

  std::uint64_t tiles() const;
  std::uint64_t done() const;
  /// Number of the image that the next part is of; none after the last.
  std::optional<std::uint32_t> image();
  BlendedPart next();
  /// Since the last call: pixels that were predicted, and those of them for which the runs do not
  /// all give the same class.
  struct Agreement {
    std::uint64_t pixels = 0, disputed = 0;
  };
  Agreement take_agreement();

 private:
  std::vector<std::unique_ptr<TilePass>> passes_;
  std::optional<BlendedPart> ahead_;  ///< of the first run
  Agreement agreement_;
};

}  // namespace headrace::predict
