#include "learn/measure/volume/volume_meter.hpp"

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"

namespace headrace::measure {

VolumeMeter::VolumeMeter(VolumeRules rules)
    : rules_(std::move(rules)),
      lesion_membership_(rules_.lesion_membership()),
      true_classes_(classes_by_value(rules_.classes, rules_.class_sets)) {}

void VolumeMeter::start(const std::array<std::int64_t, 3>& shape_zyx,
                        const std::array<double, 3>& spacing_mm_zyx) {
  volume_.shape_zyx = shape_zyx;
  volume_.spacing_mm_zyx = spacing_mm_zyx;
  const auto voxels = static_cast<std::size_t>(shape_zyx[0] * shape_zyx[1] * shape_zyx[2]);
  for (auto* values : {&volume_.predicted, &volume_.truth}) {
    values->clear();
    values->reserve(voxels);
  }
  volume_.lesion.clear();
  volume_.lesion.reserve(voxels);
  calibration_ = {};
  scores_.clear();
}

void VolumeMeter::add(std::span<const float> probabilities, std::span<const std::uint8_t> truth,
                      std::span<const std::uint8_t> body) {
  const auto pixels = static_cast<std::size_t>(volume_.shape_zyx[1] * volume_.shape_zyx[2]);
  for (std::size_t i = 0; i < pixels; ++i) {
    const float* p = probabilities.data() + i;
    std::size_t best = 0;
    float lesion = 0;
    for (std::size_t c = 0; c < rules_.classes; ++c) {
      if (p[c * pixels] > p[best * pixels]) best = c;
      if (lesion_membership_[c] == Membership::inside) lesion += p[c * pixels];
    }
    const std::uint8_t label = truth.empty() ? kIgnoreLabel : truth[i];
    const Membership truly = lesion_membership_[label];
    const bool told = truly != Membership::undecided;
    const std::uint16_t score = told ? score_of(lesion) : std::uint16_t{0};
    volume_.predicted.push_back(static_cast<std::uint8_t>(best));
    volume_.truth.push_back(label);
    volume_.lesion.push_back(score);
    if (true_classes_[label].none() || body.empty() || body[i] == 0) continue;
    calibration_.add_classes(p, pixels, rules_.classes, true_classes_[label]);
    if (told) scores_.add(score, truly == Membership::inside);
  }
}

void VolumeMeter::add_classes(std::span<const std::uint8_t> predicted,
                              std::span<const std::uint8_t> truth,
                              std::span<const std::uint16_t> lesion) {
  volume_.predicted.insert(volume_.predicted.end(), predicted.begin(), predicted.end());
  volume_.truth.insert(volume_.truth.end(), truth.begin(), truth.end());
  volume_.lesion.insert(volume_.lesion.end(), lesion.begin(), lesion.end());
}

VolumeMeter::Calls VolumeMeter::last_slice() {
  const auto pixels = static_cast<std::size_t>(volume_.shape_zyx[1] * volume_.shape_zyx[2]);
  const auto last = [&](auto& values) {
    return std::span(values).last(std::min(pixels, values.size()));
  };
  return {last(volume_.predicted), last(volume_.lesion)};
}

void VolumeMeter::add_counts(const VoxelCounts& counts) {
  calibration_.add_counted(counts.highest, counts.squared_steps);
  scores_.add(counts.lesion);
}

VolumeFigures VolumeMeter::finish() {
  const auto [depth, height, width] = volume_.shape_zyx;
  if (volume_.truth.size() != static_cast<std::size_t>(depth * height * width))
    fail(ErrorCode::internal, "A volume of {} slices was measured before its last.", depth);
  VolumeFigures out = measure_volume(volume_, rules_);
  out.calibration = calibration_;
  if (!rules_.lesion_classes.empty()) out.lesion_scores = scores_.counts();
  return out;
}

}  // namespace headrace::measure
