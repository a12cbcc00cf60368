#include "learn/predict/volume/voxel_scores.hpp"

#include <utility>

#include "learn/inference/score_rows.hpp"
#include "learn/measure/base/score.hpp"
#include "learn/result/probability_byte.hpp"

namespace headrace::predict {

void score_voxels(std::span<const float> probabilities, std::size_t classes,
                  std::span<const std::uint8_t> lesion_classes, VoxelScores& out) {
  const std::size_t pixels = probabilities.size() / classes;
  out.classes.assign(pixels, 0);
  for (std::size_t c = 1; c < classes; ++c) {
    const float* p = probabilities.data() + c * pixels;
    for (std::size_t i = 0; i < pixels; ++i) {
      if (p[i] > probabilities[out.classes[i] * pixels + i])
        out.classes[i] = static_cast<std::uint8_t>(c);
    }
  }
  out.probabilities.resize(probabilities.size());
  result::probability_bytes(probabilities, out.probabilities);
  out.lesion.resize(lesion_classes.empty() ? 0 : pixels);
  for (std::size_t i = 0; i < out.lesion.size(); ++i) {
    float lesion = 0;
    for (const std::uint8_t value : lesion_classes) lesion += probabilities[value * pixels + i];
    out.lesion[i] = measure::score_of(lesion);
  }
}

VoxelScores voxel_scores_of_rows(std::vector<std::uint8_t> predicted,
                                 std::vector<std::uint8_t> rows, std::size_t probabilities) {
  const std::size_t bytes = probabilities * predicted.size();
  VoxelScores out;
  out.classes = std::move(predicted);
  out.lesion = inference::scores_of_rows(std::span<const std::uint8_t>(rows).subspan(bytes));
  rows.resize(bytes);
  out.probabilities = std::move(rows);
  return out;
}

}  // namespace headrace::predict
