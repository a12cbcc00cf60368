#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "headrace/source/cohort.hpp"

namespace headrace::source {

/// What the images of one split teach.
struct SplitSupervision {
  std::uint64_t images = 0, annotated = 0;  ///< annotated: those with such a label image
  /// Pixels or voxels of level 0 by class value, as the sampler's index counts them: of class 0
  /// those in cells with tissue, body or another class.
  std::vector<std::uint64_t> pixels;
  std::vector<std::uint64_t> lesions;  ///< of volumes, by class value: connected components
};

/// Of the images of `split`, by their label images of the name `labels`; reads the index and the
/// lesions of every annotated one. Errors: as Cohort::cells, volume_cells and lesions.
SplitSupervision supervision_of(const Cohort& cohort, const std::string& labels,
                                const std::string& split);

/// The same of every split that has images.
std::map<std::string, SplitSupervision> count_supervision(const Cohort& cohort,
                                                          const std::string& labels);

}  // namespace headrace::source
