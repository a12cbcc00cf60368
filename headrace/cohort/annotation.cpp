#include "headrace/cohort/annotation.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headrace::cohort {

bool declared_negative(const ImageRecord& record) {
  return record.negative || record.grade_group == 0;
}

Annotation annotation_of(const ImageRecord& record, const std::string& labels,
                         const SiteIndex& sites) {
  if (!sites.blocks.empty() || sites.left_out) return Annotation::annotated;
  return record.has_labels(labels) || declared_negative(record) ? Annotation::negative
                                                                : Annotation::none;
}

Annotation annotation_of(const Cohort& cohort, std::size_t image, const std::string& labels) {
  return annotation_of(cohort.images()[image], labels, cohort.label_sites(image, labels));
}

void AnnotationCounts::add(Annotation annotation) {
  ++images;
  negatives += annotation == Annotation::negative ? 1 : 0;
  without += annotation == Annotation::none ? 1 : 0;
}

std::string AnnotationCounts::describe(const std::string& split) const {
  std::string text;
  if (without > 0) {
    text += fmt::format("{} of {} images are without annotation and {}", without, images,
                        without == images ? "teach nothing" : "are not sampled");
  }
  if (negatives > 0) {
    text += fmt::format("{}{} of {} images are negative and teach background",
                        text.empty() ? "" : "; ", negatives, images);
  }
  return text.empty() ? text : fmt::format("split '{}': {}", split, text);
}

}  // namespace headrace::cohort
