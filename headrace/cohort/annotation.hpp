#pragma once
#include <cstdint>
#include <string>

#include "headrace/cohort/cohort.hpp"

namespace headrace::cohort {

/// What the label images of one name tell about an image.
enum class Annotation {
  annotated,  ///< its label image has a pixel of a class above 0, even of a class that is not
              ///< mapped
  /// It is known to have no such pixel: by a label image without one, grade group 0, or `negative`
  /// in the cohort table. Everything inside it is background.
  negative,
  none  ///< no label image, and nothing is known: every label is ignore
};

/// `labels`: name of the label images; `sites`: their index.
Annotation annotation_of(const ImageRecord& record, const std::string& labels,
                         const SiteIndex& sites);
/// Reads the index. Errors: as Cohort::label_sites.
Annotation annotation_of(const Cohort& cohort, std::size_t image, const std::string& labels);

/// Whether an image is known to hold no class, with or without a label image: by the table, or by a
/// grade group of 0.
bool declared_negative(const ImageRecord& record);

/// Counts over the images of one split.
struct AnnotationCounts {
  std::uint64_t images = 0;
  std::uint64_t negatives = 0;  ///< Annotation::negative
  std::uint64_t without = 0;    ///< Annotation::none

  void add(Annotation annotation);
  /// "split 'train': 12 of 40 images are without annotation and are not sampled; 3 of 40 images are
  /// negative and teach background"; empty where every image is annotated.
  std::string describe(const std::string& split) const;
};

}  // namespace headrace::cohort
