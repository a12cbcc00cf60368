#include "headrace/cohort/label_view.hpp"

#include <algorithm>

#include "headrace/cohort/annotation.hpp"
#include "headrace/core/ignore_label.hpp"

namespace headrace::cohort {

LabelView::LabelView(const Cohort& cohort, std::size_t image, const std::string& labels,
                     bool outside_ignored)
    : match_(&cohort.class_match()),
      outside_ignored_(outside_ignored && cohort.images()[image].has_labels(labels) &&
                       annotation_of(cohort, image, labels) == Annotation::annotated),
      relabels_(!match_->keeps_values()) {}

void LabelView::apply(std::span<std::uint8_t> labels) const noexcept {
  if (outside_ignored_) std::replace(labels.begin(), labels.end(), std::uint8_t{0}, kIgnoreLabel);
  if (relabels_) match_->apply(labels);
}

}  // namespace headrace::cohort
