#include "learn/inference/volume/predicted_region.hpp"

#include <algorithm>

namespace headrace::inference {

PredictedRegion::PredictedRegion(const cohort::Cohort& cohort, std::uint32_t image,
                                 const loader::Preprocessing& preprocessing,
                                 std::span<const std::uint8_t> lesion_classes)
    : region_(cohort.tissue_sites(image), cohort.images()[image].volume->levels.front().shape_zyx) {
  for (const std::string& name : preprocessing.classes) {
    const auto& names = preprocessing.outside_body;
    kept_.push_back(std::find(names.begin(), names.end(), name) != names.end());
    any_kept_ = any_kept_ || kept_.back();
  }
  for (const std::uint8_t value : lesion_classes)
    lesion_kept_ = lesion_kept_ || (value < kept_.size() && kept_[value]);
}

void PredictedRegion::limit(std::int64_t z, std::span<std::uint8_t> classes,
                            std::span<std::uint16_t> lesion, std::uint8_t nothing) {
  const std::span<const std::uint8_t> inside = region_.slice(z);
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] != 0) continue;
    if (!any_kept_) {
      classes[i] = nothing;
    } else if (classes[i] < kept_.size() && !kept_[classes[i]]) {
      classes[i] = 0;
    }
    if (!lesion_kept_ && !lesion.empty()) lesion[i] = 0;
  }
}

}  // namespace headrace::inference
