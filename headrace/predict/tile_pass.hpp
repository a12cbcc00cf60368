#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/inference/stitcher.hpp"
#include "headrace/inference/tensor_canvas.hpp"
#include "headrace/inference/tile_feed.hpp"
#include "headrace/loader/loader.hpp"
#include "headrace/predict/trained_run.hpp"

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

/// One run over the tiles of some images, through its loader and transforms, blended: the parts are
/// those of an evaluation. They do not depend on `batch`, on threads, or on other images. One
/// thread calls it; tiles are blended on as many as the loader of the run has.
///
/// memory  that of Stitcher, and of the parts that the last batch finished; where tiles are blended
///         on a GPU, that of TensorCanvas
class TilePass {
 public:
  struct Options {
    std::int64_t batch = 0;  ///< tiles the loader makes at once; 0: eval.batch of the run
    bool flips = false;
    /// Whether tiles may be blended where the network is (Network::blends_there): the bytes are the
    /// same, but a mean of several runs is made on the host.
    bool alone = true;
    /// Class probabilities of a batch, as Network::predict_each gives them, in place of the run's
    /// network: bench/predict_path measures all the rest with it.
    std::function<std::span<const float>(const loader::Batch&)> network = {};
  };
  /// images: rising.
  TilePass(const TrainedRun& run, std::shared_ptr<const cohort::Cohort> cohort,
           const std::vector<std::uint32_t>& images, const Options& options);
  TilePass(const TilePass&) = delete;
  TilePass& operator=(const TilePass&) = delete;

  std::uint64_t tiles() const noexcept { return tiles_; }
  /// The next part: image by image, from part 0 on; images without tiles have
  /// none. nullopt after the last.
  std::optional<BlendedPart> next();
  /// Tiles whose prediction has been blended.
  std::uint64_t done() const noexcept { return done_; }

 private:
  inference::PartUse part_use(const TrainedRun& run) const;
  void open_stitcher(const TrainedRun& run, const std::vector<std::uint32_t>& images);
  void predict_batch(const loader::Batch& batch);
  void take(inference::StitchedPart& part);

  Options options_;
  std::shared_ptr<inference::Network> network_;  ///< unused where the options have one
  std::shared_ptr<const cohort::Cohort> cohort_;
  loader::RunConfig config_;
  std::uint64_t tiles_ = 0, done_ = 0;
  std::unique_ptr<inference::TileFeed> loader_;
  ThreadPool pool_;
  bool there_ = false;  ///< tiles are blended where the network is
  std::vector<inference::TileResult> batch_;
  /// Those without any tile have no pixels here: a tile may be followed by thousands of them.
  std::deque<BlendedPart> parts_;
  std::size_t classes_ = 0;
  std::optional<inference::Stitcher> stitcher_;
};

}  // namespace headrace::predict
