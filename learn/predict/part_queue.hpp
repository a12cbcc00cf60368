#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "learn/config/run_config.hpp"
#include "learn/inference/tile_canvas.hpp"

namespace headrace::predict {

/// One finished part of an image, with memory of its own: a row of a slide; a slice of a volume on
/// the grid of patches, or on level 0 where tiles are blended with the network.
struct BlendedPart {
  std::uint32_t image = 0;
  std::int64_t at = 0;
  std::vector<std::uint8_t> classes;  ///< 255: no tile
  std::vector<float> probabilities;   ///< (classes, pixels); 0 where there is no tile
  /// Where tiles are blended with the network, in place of the probabilities: what PixelScores
  /// makes of a row, or of a slice the rows of tensor_voxels.
  std::vector<std::uint8_t> scores = {};
};

/// Finished parts that nobody took yet, in their order. One thread.
///
/// memory  theirs, but for those without any tile, of which thousands may follow one
class PartQueue {
 public:
  /// there: parts come with scores in place of probabilities. config must outlive it.
  PartQueue(std::shared_ptr<const cohort::Cohort> cohort, const config::RunConfig& config,
            std::size_t classes, bool there)
      : cohort_(std::move(cohort)), config_(config), classes_(classes), there_(there) {}

  /// Takes what the part holds.
  void put(inference::StitchedPart& part);
  bool empty() const noexcept { return parts_.empty(); }
  /// Of one that is not empty.
  const BlendedPart& front() const { return parts_.front(); }
  BlendedPart take();

 private:
  std::shared_ptr<const cohort::Cohort> cohort_;
  const config::RunConfig& config_;
  std::size_t classes_;
  bool there_;
  std::deque<BlendedPart> parts_;
};

}  // namespace headrace::predict
