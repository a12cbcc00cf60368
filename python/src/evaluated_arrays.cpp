#include "python/src/evaluated_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/cancel.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"
#include "learn/measure/base/score.hpp"
#include "learn/measure/volume/volume_meter.hpp"

namespace headrace::python {
namespace {

constexpr float kSumTolerance = 0.01f;  // what half precision leaves of 1

std::string image_of(const EvaluatedArrays& arrays) { return "image " + arrays.name; }

/// Of this pixel or voxel, as errors have it.
std::string place_of(const EvaluatedArrays& arrays, std::size_t i) {
  const auto& [depth, height, width] = arrays.shape_zyx;
  const auto at = static_cast<std::int64_t>(i);
  const std::string in_slice = fmt::format("y {}, x {}", at / width % height, at % width);
  return arrays.slide ? in_slice : fmt::format("z {}, {}", at / (height * width), in_slice);
}

/// Reads (classes, z, y, x) in rows or slices: (classes, part), where parts follow one another.
class ProbabilityParts {
 public:
  ProbabilityParts(const EvaluatedArrays& arrays, std::size_t classes, std::size_t part)
      : arrays_(arrays), classes_(classes), part_(part), values_(classes * part) {
    const auto& [depth, height, width] = arrays.shape_zyx;
    whole_ = static_cast<std::size_t>(depth * height * width);
  }

  std::span<const float> read(std::size_t index) {
    const std::size_t begin = index * part_;
    for (std::size_t c = 0; c < classes_; ++c) {
      std::copy_n(arrays_.probabilities + c * whole_ + begin, part_,
                  values_.begin() + static_cast<std::ptrdiff_t>(c * part_));
    }
    for (std::size_t i = 0; i < part_; ++i) check(i, begin + i);
    return values_;
  }

 private:
  void check(std::size_t i, std::size_t at) const {
    float sum = 0, lowest = 0;
    for (std::size_t c = 0; c < classes_; ++c) {
      sum += values_[c * part_ + i];
      lowest = std::min(lowest, values_[c * part_ + i]);
    }
    // NaN fails as well.
    if (lowest >= 0 && (std::abs(sum - 1) <= kSumTolerance || (arrays_.slide && sum == 0))) return;
    fail(ErrorCode::malformed,
         "{}: the values of the {} classes at {} sum up to {:g}, the lowest is {:g}; expected "
         "probabilities, none below 0 and 1 in all (a softmax over axis 0){}.",
         image_of(arrays_), classes_, place_of(arrays_, at), sum, lowest,
         sum == 0 && lowest == 0 ? "; where nothing was predicted give class 0 all of it, as eval "
                                   "does in volumes"
                                 : "");
  }

  const EvaluatedArrays& arrays_;
  std::size_t classes_, part_, whole_ = 0;
  std::vector<float> values_;
};

/// Refuses predicted classes that there are not.
void check_predicted(const EvaluatedArrays& arrays, std::size_t begin, std::size_t count,
                     std::size_t classes) {
  const std::uint8_t* const first = arrays.predicted + begin;
  const auto* const wrong = std::find_if(first, first + count, [&](std::uint8_t value) {
    return value >= classes && !(arrays.slide && value == kIgnoreLabel);
  });
  if (wrong == first + count) return;
  // What `predict` leaves out of a volume has 255; its evaluation counts that as class 0.
  fail(ErrorCode::malformed, "{}: predicted class {} at {}; expected 0 to {}{}.", image_of(arrays),
       *wrong, place_of(arrays, static_cast<std::size_t>(wrong - arrays.predicted)), classes - 1,
       arrays.slide             ? ", or 255 where nothing is predicted"
       : *wrong == kIgnoreLabel ? "; where nothing was predicted give 0, as eval does in volumes"
                                : "");
}

std::size_t slice_voxels(const EvaluatedArrays& arrays) {
  return static_cast<std::size_t>(arrays.shape_zyx[1] * arrays.shape_zyx[2]);
}

measure::VolumeFigures of_probabilities(const EvaluatedArrays& arrays,
                                        const measure::VolumeRules& rules) {
  const std::size_t slice = slice_voxels(arrays);
  const std::vector<std::uint8_t> everywhere(arrays.body == nullptr ? slice : 0, 1);
  ProbabilityParts parts(arrays, rules.classes, slice);
  measure::VolumeMeter meter(rules);
  meter.start(arrays.shape_zyx, arrays.spacing_mm_zyx);
  for (std::size_t z = 0; z < static_cast<std::size_t>(arrays.shape_zyx[0]); ++z) {
    stop_if_cancelled();
    const std::span body = arrays.body == nullptr
                               ? std::span<const std::uint8_t>(everywhere)
                               : std::span<const std::uint8_t>(arrays.body + z * slice, slice);
    meter.add(parts.read(z), {arrays.truth + z * slice, slice}, body);
  }
  return with_context(image_of(arrays), [&] { return meter.finish(); });
}

/// Scores of the voxels of a class map for the search for lesions.
struct LesionScores {
  std::vector<std::uint16_t> by_voxel;  ///< as PredictedVolume::lesion
  std::optional<measure::ScoreCounts> counted;

  LesionScores(const EvaluatedArrays& arrays, const measure::VolumeRules& rules) {
    const auto membership = rules.lesion_membership();
    const std::size_t slice = slice_voxels(arrays),
                      voxels = slice * static_cast<std::size_t>(arrays.shape_zyx[0]);
    by_voxel.resize(voxels);
    measure::ScoreCounter counter;
    for (std::size_t i = 0; i < voxels; ++i) {
      if (i % slice == 0) stop_if_cancelled();
      const Membership truly = membership[arrays.truth[i]];
      if (truly == Membership::undecided) continue;
      const bool said = membership[arrays.predicted[i]] == Membership::inside;
      const float score = arrays.lesion_scores != nullptr ? checked(arrays, i) : said ? 1.0f : 0.0f;
      by_voxel[i] = measure::score_of(score);
      const bool inside = arrays.body == nullptr || arrays.body[i] != 0;
      if (inside) counter.add(by_voxel[i], truly == Membership::inside);
    }
    if (arrays.lesion_scores != nullptr) counted = counter.counts();
  }

 private:
  static float checked(const EvaluatedArrays& arrays, std::size_t i) {
    const float score = arrays.lesion_scores[i];
    if (score >= 0 && score <= 1) return score;
    fail(ErrorCode::malformed,
         "{}: lesion score {:g} at {}; expected 0 to 1 (a sigmoid, or a share of the highest "
         "score).",
         image_of(arrays), score, place_of(arrays, i));
  }
};

measure::VolumeFigures of_classes(const EvaluatedArrays& arrays,
                                  const measure::VolumeRules& rules) {
  const auto voxels = slice_voxels(arrays) * static_cast<std::size_t>(arrays.shape_zyx[0]);
  check_predicted(arrays, 0, voxels, rules.classes);
  std::optional<LesionScores> scores;
  if (!rules.lesion_classes.empty()) scores.emplace(arrays, rules);
  const measure::VolumeView view{
      arrays.shape_zyx,
      arrays.spacing_mm_zyx,
      {arrays.predicted, voxels},
      {arrays.truth, voxels},
      scores ? std::span<const std::uint16_t>(scores->by_voxel) : std::span<const std::uint16_t>()};
  measure::VolumeFigures figures =
      with_context(image_of(arrays), [&] { return measure::measure_volume(view, rules); });
  if (scores && scores->counted) figures.lesion_scores = *scores->counted;
  return figures;
}

/// The class of the highest probability, the lower of equals; 255 where all are 0.
void most_probable(std::span<const float> row, std::size_t classes,
                   std::vector<std::uint8_t>& out) {
  const std::size_t width = out.size();
  for (std::size_t x = 0; x < width; ++x) {
    std::size_t best = 0;
    for (std::size_t c = 1; c < classes; ++c)
      best = row[c * width + x] > row[best * width + x] ? c : best;
    out[x] = row[best * width + x] > 0 ? static_cast<std::uint8_t>(best) : kIgnoreLabel;
  }
}

}  // namespace

MeasuredSlide measure_slide_arrays(const EvaluatedArrays& arrays,
                                   const measure::SlideRules& rules) {
  const std::size_t classes = rules.classes.size();
  const auto height = static_cast<std::size_t>(arrays.shape_zyx[1]),
             width = static_cast<std::size_t>(arrays.shape_zyx[2]);
  std::optional<ProbabilityParts> parts;
  if (arrays.probabilities != nullptr) parts.emplace(arrays, classes, width);
  std::vector<std::uint8_t> chosen(width);
  measure::SlideMeter meter(rules);
  for (std::size_t y = 0; y < height; ++y) {
    stop_if_cancelled();
    measure::SlideRow row{
        static_cast<std::int64_t>(y), chosen, {arrays.truth + y * width, width}, {}};
    if (parts) {
      row.probabilities = parts->read(y);
      most_probable(row.probabilities, classes, chosen);
    } else {
      check_predicted(arrays, y * width, width, classes);
      row.predicted = {arrays.predicted + y * width, width};
    }
    meter.add(row, arrays.name);
  }
  measure::SlideCounts counts = meter.finish();
  return {std::move(counts), meter.exact_scores()};
}

measure::VolumeFigures measure_volume_arrays(const EvaluatedArrays& arrays,
                                             const measure::VolumeRules& rules) {
  return arrays.probabilities != nullptr ? of_probabilities(arrays, rules)
                                         : of_classes(arrays, rules);
}

}  // namespace headrace::python
