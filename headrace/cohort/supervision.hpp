#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "headrace/cohort/annotation.hpp"
#include "headrace/cohort/cohort.hpp"

namespace headrace::cohort {

/// The supervision that the images of one split give.
struct SplitSupervision {
  AnnotationCounts images;
  std::uint64_t labelled = 0;  ///< images with such a label image, even an empty one
  /// Pixels or voxels of level 0 by label value, classes and then sets, as the sampler's index
  /// counts them: class 0 counts only in cells with tissue, body or another class.
  std::vector<std::uint64_t> pixels;
  std::vector<std::uint64_t> lesions;  ///< of volumes, by label value: connected components
};

/// For the images of `split` and their label images of the name `labels`; reads the index and the
/// lesions of every annotated image. Errors: as Cohort::cells, volume_cells and lesions.
SplitSupervision supervision_of(const Cohort& cohort, const std::string& labels,
                                const std::string& split);

/// The same for every split that has images.
std::map<std::string, SplitSupervision> count_supervision(const Cohort& cohort,
                                                          const std::string& labels);

}  // namespace headrace::cohort
