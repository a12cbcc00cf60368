#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headrace::predict {

/// What a prediction needs of a slice of level 0.
struct VoxelScores {
  std::vector<std::uint8_t> classes;        ///< (y, x): the most probable one, the lower of equals
  std::vector<std::uint8_t> probabilities;  ///< (classes, y, x): result::probability_byte
  /// (y, x): measure::score_of of the lesion classes together; empty without any.
  std::vector<std::uint16_t> lesion;
};

/// Of probabilities (classes, y, x), into the memory of the slice before. lesion_classes: rising,
/// as an evaluation adds them up.
void score_voxels(std::span<const float> probabilities, std::size_t classes,
                  std::span<const std::uint8_t> lesion_classes, VoxelScores& out);

/// From a canvas where the network is. rows: those of tensor_voxels; probabilities: how many of
/// them are of probabilities, and the rest of lesions.
VoxelScores voxel_scores_of_rows(std::vector<std::uint8_t> predicted,
                                 std::vector<std::uint8_t> rows, std::size_t probabilities);

}  // namespace headrace::predict
