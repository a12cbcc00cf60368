#include "learn/predict/volume/findings_collector.hpp"

#include <utility>

#include "headrace/core/error.hpp"
#include "learn/measure/base/score.hpp"
#include "learn/measure/volume/lesion_calls.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::predict {

FindingsCollector::FindingsCollector(FindingRules rules, const imaging::VolumeGrid& grid) {
  findings_.rules = std::move(rules);
  findings_.grid = map_.grid = grid;
  findings_.structures.resize(findings_.rules.classes.size());
  if (findings_.rules.lesion_classes.empty()) return;
  map_.classes.reserve(static_cast<std::size_t>(grid.voxels()));
  scores_.reserve(static_cast<std::size_t>(grid.voxels()));
}

void FindingsCollector::add(std::span<const std::uint8_t> classes,
                            std::span<const std::uint16_t> scores,
                            std::span<const std::uint8_t> body) {
  check_slice(classes, scores, body);
  count_structures(classes);
  map_.body.add(body, map_.grid.shape_zyx[2]);
  if (!findings_.rules.lesion_classes.empty()) {
    map_.classes.insert(map_.classes.end(), classes.begin(), classes.end());
    scores_.insert(scores_.end(), scores.begin(), scores.end());
  }
  ++next_;
}

void FindingsCollector::check_slice(std::span<const std::uint8_t> classes,
                                    std::span<const std::uint16_t> scores,
                                    std::span<const std::uint8_t> body) const {
  const auto pixels = static_cast<std::size_t>(map_.grid.slice_voxels());
  const std::size_t values = findings_.rules.classes.size(),
                    scored = findings_.rules.lesion_classes.empty() ? 0 : pixels;
  if (next_ >= map_.grid.shape_zyx[0]) {
    fail(ErrorCode::internal, "A volume of {} slices was given one more.", map_.grid.shape_zyx[0]);
  }
  if (classes.size() != pixels || scores.size() != scored ||
      (!body.empty() && body.size() != pixels)) {
    fail(ErrorCode::internal,
         "Slice {} has {} classes, {} scores and {} voxels of body; expected {} pixels, {} of them "
         "with a score.",
         next_, classes.size(), scores.size(), body.size(), pixels, scored);
  }
  for (const std::uint8_t value : classes) {
    if (value >= values && value != result::kNotPredicted)
      fail(ErrorCode::internal, "Slice {} has class {}; there are {}.", next_, value, values);
  }
}

void FindingsCollector::count_structures(std::span<const std::uint8_t> classes) {
  const std::int64_t height = map_.grid.shape_zyx[1], width = map_.grid.shape_zyx[2];
  for (std::int64_t y = 0; y < height; ++y) {
    const std::uint8_t* row = classes.data() + y * width;
    for (std::int64_t x = 0; x < width;) {
      const std::int64_t x0 = x;
      while (x < width && row[x] == row[x0]) ++x;
      if (row[x0] != 0 && row[x0] != result::kNotPredicted)
        findings_.structures[row[x0]].add(next_, y, x0, x);
    }
  }
}

void FindingsCollector::find_lesions() {
  const FindingRules& rules = findings_.rules;
  const auto [z, y, x] = map_.grid.spacing_mm_zyx();
  const auto calls = measure::find_calls_with_voxels(
      scores_, map_.grid.shape_zyx, measure::score_of(static_cast<float>(rules.lesion_lowest)),
      measure::least_call_voxels(rules.lesion_min_mm3, z * y * x));
  for (const measure::LocatedCall& call : calls) {
    PredictedLesion lesion = describe_lesion(call, map_, rules.lesion_classes);
    lesion.runs = call.runs;
    if (rules.calibration.value) lesion.probability = rules.calibration.value->at(lesion.score);
    findings_.lesions.push_back(std::move(lesion));
  }
}

VolumeFindings FindingsCollector::finish() {
  if (next_ != map_.grid.shape_zyx[0]) {
    fail(ErrorCode::internal, "A volume of {} slices was finished after {}.",
         map_.grid.shape_zyx[0], next_);
  }
  if (!findings_.rules.lesion_classes.empty()) find_lesions();
  return std::move(findings_);
}

}  // namespace headrace::predict
