#include "learn/train/volume/volume_truth.hpp"

#include "headrace/cohort/annotation.hpp"

namespace headrace::train {

VolumeTruth::VolumeTruth(const cohort::Cohort& cohort, const config::RunConfig& config,
                         std::uint32_t image)
    : view_(cohort, image, config.data.labels, config.data.outside == loader::Outside::ignore) {
  const cohort::ImageRecord& record = cohort.images()[image];
  if (record.has_labels(config.data.labels)) {
    labels_.emplace(cohort.label_array(image, config.data.labels, 0));
  } else if (cohort::declared_negative(record)) {
    const auto& shape = record.volume->levels.front().shape_zyx;
    seen_.resize(static_cast<std::size_t>(shape[1] * shape[2]));
    view_.apply(seen_);
  }
}

std::span<const std::uint8_t> VolumeTruth::slice(std::int64_t z) {
  if (!labels_) return seen_;
  const std::span<const std::uint8_t> stored = labels_->slice(z);
  if (view_.keeps_values()) return stored;
  seen_.assign(stored.begin(), stored.end());
  view_.apply(seen_);
  return seen_;
}

}  // namespace headrace::train
