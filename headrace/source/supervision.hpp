#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "headrace/source/annotation.hpp"
#include "headrace/source/cohort.hpp"

namespace headrace::source {

/// What the images of one split teach.
struct SplitSupervision {
  AnnotationCounts images;
  std::uint64_t labelled = 0;  ///< images with such a label image, be it empty
  /// Pixels or voxels of level 0 by label value, classes and then sets, as the sampler's index
  /// counts them: of class 0 those in cells with tissue, body or another class.
  std::vector<std::uint64_t> pixels;
  std::vector<std::uint64_t> lesions;  ///< of volumes, by label value: connected components
};

/// Of the images of `split`, by their label images of the name `labels`; reads the index and the
/// lesions of every annotated one. Errors: as Cohort::cells, volume_cells and lesions.
SplitSupervision supervision_of(const Cohort& cohort, const std::string& labels,
                                const std::string& split);

/// The same of every split that has images.
std::map<std::string, SplitSupervision> count_supervision(const Cohort& cohort,
                                                          const std::string& labels);

}  // namespace headrace::source
