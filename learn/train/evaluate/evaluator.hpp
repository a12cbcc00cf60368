#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "headrace/loader/loader.hpp"
#include "learn/inference/part_sender.hpp"
#include "learn/measure/base/image_facts.hpp"
#include "learn/train/evaluate/evaluate.hpp"
#include "learn/train/evaluate/offered_tile.hpp"

namespace headrace::train {

/// Handles tiles and stitched parts in evaluation, for images of one kind. One thread.
class Evaluator {
 public:
  virtual ~Evaluator() = default;

  /// What it needs of parts that are blended where the model is. Asked for once.
  virtual inference::PartUse part_use() = 0;
  /// Takes one stitched part; parts come in order, image by image.
  virtual void add(const inference::StitchedPart& part) = 0;
  /// Checks whether a tile is worth a picture.
  virtual void offer(const OfferedTile& tile) = 0;
  /// Fills json, montage and mean_dice. No parts may follow.
  virtual void finish(Evaluation& out) = 0;
};

/// `tiles`: their total number, for spreading the pictures over them.
std::unique_ptr<Evaluator> make_slide_evaluator(const cohort::Cohort& cohort,
                                                const config::RunConfig& config,
                                                const EvaluateOptions& options,
                                                std::uint64_t tiles);
std::unique_ptr<Evaluator> make_volume_evaluator(const cohort::Cohort& cohort,
                                                 const config::RunConfig& config,
                                                 const EvaluateOptions& options,
                                                 std::uint64_t tiles);

/// What the store states about an image, and figures are grouped by.
measure::ImageFacts image_facts(const cohort::ImageRecord& record);

/// The class of the highest probability, pixel by pixel; the lower of equals.
std::vector<std::uint8_t> most_probable(const float* probabilities, std::size_t classes,
                                        std::size_t pixels);

/// Chooses the tiles that become pictures: the one with the highest score in each of several equal
/// parts of all tiles.
class MontageSlots {
 public:
  MontageSlots(std::size_t count, std::uint64_t tiles);
  /// Whether a tile's picture is to be made; then pass it to `keep`. Never for scores below 0.
  bool wants(std::uint64_t tile, double score) const;
  void keep(std::uint64_t tile, double score, MontagePatch patch);
  std::vector<MontagePatch> take();

 private:
  struct Slot {
    double score = -1;
    MontagePatch patch;
  };
  std::size_t slot_of(std::uint64_t tile) const;
  std::uint64_t tiles_;
  std::vector<Slot> slots_;
};

}  // namespace headrace::train
