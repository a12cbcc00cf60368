#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "learn/inference/run_agreement.hpp"
#include "learn/inference/tensor_mean.hpp"
#include "learn/predict/part_queue.hpp"
#include "learn/predict/tile_pass.hpp"

namespace headrace::predict {

/// The mean of several runs over the tiles of some images, part by part: of each pixel the mean of
/// the runs' probabilities in the order of the runs, and of it the class with the largest, the
/// lower of equals. One run's values do not change. Parts come image by image, from part 0 on;
/// images without tiles have none. Tiles are blended where the networks are
/// (Network::blends_there), if there is room, or on the host: the same bytes. One thread.
///
/// memory  that of each TilePass, and of the parts that their last batches finished; where tiles
///         are blended on a GPU, canvas_memory.hpp
class EnsemblePass {
 public:
  /// images: rising. runs must outlive it. Errors: those of TilePass; internal, where the runs'
  /// parts differ.
  EnsemblePass(const std::vector<TrainedRun>& runs,
               const std::shared_ptr<const cohort::Cohort>& cohort,
               const std::vector<std::uint32_t>& images, const TilePass::Options& options);

  std::uint64_t tiles() const;
  std::uint64_t done() const;
  /// Number of the image that the next part is of; none after the last.
  std::optional<std::uint32_t> image();
  /// The next part; there is one.
  BlendedPart next();
  /// Of an image of which all parts were taken; once. One run has none.
  inference::RunAgreement take_agreement(std::uint32_t image);

 private:
  bool fill(std::size_t queue);
  void average(BlendedPart& mean);

  /// By run; where tiles are blended with the networks, one alone.
  std::vector<std::unique_ptr<PartQueue>> queues_;
  std::vector<std::unique_ptr<TilePass>> passes_;
  std::shared_ptr<inference::TensorMean> mean_;  ///< of several runs there
  inference::RunAgreement agreement_;            ///< on the host, since it was taken
};

}  // namespace headrace::predict
