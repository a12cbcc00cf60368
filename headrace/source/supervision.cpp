#include "headrace/source/supervision.hpp"

#include <algorithm>
#include <numeric>

namespace headrace::source {
namespace {

void add_cells(const std::vector<std::vector<std::uint32_t>>& cells_by_class,
               SplitSupervision& split) {
  for (std::size_t c = 0; c < cells_by_class.size(); ++c) {
    const auto& cells = cells_by_class[c];
    split.pixels[c] = std::accumulate(cells.begin(), cells.end(), split.pixels[c]);
  }
}

}  // namespace

std::map<std::string, SplitSupervision> count_supervision(const Cohort& cohort,
                                                          const std::string& labels) {
  const std::size_t classes = cohort.classes().size();
  std::map<std::string, SplitSupervision> splits;
  for (std::size_t i = 0; i < cohort.images().size(); ++i) {
    const ImageRecord& image = cohort.images()[i];
    SplitSupervision& split = splits[image.split];
    split.pixels.resize(classes);
    split.lesions.resize(classes);
    ++split.images;
    if (std::find(image.labels.begin(), image.labels.end(), labels) == image.labels.end()) continue;
    ++split.annotated;
    if (!image.volume) {
      add_cells(cohort.cells(i, labels).class_px, split);
      continue;
    }
    add_cells(cohort.volume_cells(i, labels).class_voxels, split);
    for (const VolumeLesion& lesion : cohort.lesions(i, labels)) {
      if (lesion.class_value < classes) ++split.lesions[lesion.class_value];
    }
  }
  return splits;
}

}  // namespace headrace::source
