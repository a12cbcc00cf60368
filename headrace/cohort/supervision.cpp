#include "headrace/cohort/supervision.hpp"

#include <algorithm>
#include <numeric>

namespace headrace::cohort {
namespace {

void add_cells(const std::vector<std::vector<std::uint32_t>>& cells_by_class,
               SplitSupervision& split) {
  for (std::size_t c = 0; c < cells_by_class.size(); ++c) {
    const auto& cells = cells_by_class[c];
    split.pixels[c] = std::accumulate(cells.begin(), cells.end(), split.pixels[c]);
  }
}

}  // namespace

SplitSupervision supervision_of(const Cohort& cohort, const std::string& labels,
                                const std::string& split) {
  const std::size_t values = cohort.classes().size() + cohort.class_sets().size();
  SplitSupervision out;
  out.pixels.resize(values);
  out.lesions.resize(values);
  for (std::size_t i = 0; i < cohort.images().size(); ++i) {
    const ImageRecord& image = cohort.images()[i];
    if (image.split != split) continue;
    out.images.add(annotation_of(cohort, i, labels));
    if (!image.has_labels(labels)) continue;
    ++out.labelled;
    if (!image.volume) {
      add_cells(cohort.cells(i, labels).class_px, out);
      continue;
    }
    add_cells(cohort.volume_cells(i, labels).class_voxels, out);
    for (const VolumeLesion& lesion : cohort.lesions(i, labels)) {
      if (lesion.class_value < values) ++out.lesions[lesion.class_value];
    }
  }
  return out;
}

std::map<std::string, SplitSupervision> count_supervision(const Cohort& cohort,
                                                          const std::string& labels) {
  std::map<std::string, SplitSupervision> splits;
  for (const ImageRecord& image : cohort.images()) {
    if (!splits.contains(image.split))
      splits[image.split] = supervision_of(cohort, labels, image.split);
  }
  return splits;
}

}  // namespace headrace::cohort
