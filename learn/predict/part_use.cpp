#include "learn/predict/part_use.hpp"

#include <memory>

#include "learn/inference/score_rows.hpp"
#include "learn/predict/slide/tensor_scores.hpp"
#include "learn/predict/volume/finding_rules.hpp"
#include "learn/predict/volume/tensor_voxels.hpp"

namespace headrace::predict {

inference::PartUse part_use(const TrainedRun& run) {
  const std::size_t classes = run.classes().size();
  inference::PartUse use;
  if (run.config.volumes) {
    const auto lesions = lesion_classes(run.classes(), run.config);
    use.score_rows = classes + (lesions.empty() ? 0 : inference::kScoreRows);
    use.look = [lesions](inference::PartTensors& slices) {
      slices.scores = tensor_voxels(slices.means, lesions);
    };
  } else {
    use.score_rows = classes + 1;
    use.look = [scores = std::make_shared<TensorScores>(classes)](inference::PartTensors& rows) {
      rows.scores = scores->of(rows.means);
    };
  }
  return use;
}

}  // namespace headrace::predict
