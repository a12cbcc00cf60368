#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/core/json.hpp"

namespace headrace::cohort {

/// What the label images of one set tell about the images of a store.
struct LabelSummary {
  /// A label image without a pixel of a class above 0.
  struct Empty {
    std::string image;
    std::string why;  ///< "only background", "only ignore", "only background and ignore"
  };

  std::uint64_t images = 0;     ///< of the store
  std::uint64_t annotated = 0;  ///< whose label image holds a class above 0
  std::uint64_t negative = 0;   ///< without a label image; the table says that they hold no class
  std::uint64_t without = 0;    ///< neither
  std::vector<Empty> empty;     ///< sorted by image
  /// Said to be negative (by the table or a grade group of 0), but annotated. Sorted.
  std::vector<std::string> contradicted;
  std::uint64_t ignored = 0;  ///< pixels or voxels of level 0 that are ignore, of all label images
};

/// For each label set of the store's version. Reads the index of every label image. Errors: as
/// Cohort::cells and Cohort::volume_cells.
std::map<std::string, LabelSummary> summarise_labels(const Cohort& cohort);

/// A sentence for each thing that a user should know about a label set of this name.
std::vector<std::string> sentences_of(const std::string& set, const LabelSummary& summary,
                                      bool volumes);

Json to_json(const LabelSummary& summary);

}  // namespace headrace::cohort
