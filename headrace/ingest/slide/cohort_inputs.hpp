#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "headrace/core/class_sets.hpp"
#include "headrace/ingest/inputs/bad_inputs.hpp"
#include "headrace/ingest/slide/ingest_slides.hpp"
#include "headrace/ingest/slide/slide_case.hpp"

namespace headrace::ingest {

/// The images of one run, sorted by id, and the classes of their labels.
struct CohortInputs {
  std::vector<SlideCase> slides;
  std::vector<std::string> classes;
  std::vector<ClassSet> class_sets;  ///< further label values, after those of the classes
  std::uint64_t associated = 0;  ///< label, overview and thumbnail files of DICOM slides: left out
  UnusedFiles unused;            ///< of the inputs and of the folder of annotations
};

/// Finds the images and the facts about them: from files, folders, the cohort table, the folder of
/// annotations, PANDA's layout.
///
/// out     bad  missing files, and images with more than one annotation
/// errors  usage, not_found, malformed: of options, folders and the table; each names the file or
///         the table's line
CohortInputs find_inputs(const SlideIngestOptions& options, BadInputs& bad);

/// Settles the coding of the case's mask image: the one that its row states, else `otherwise`,
/// which a row of PANDA's table never takes. None without a mask image. Errors: usage (a mask image
/// of a data_provider whose masks are not known; with the table's line).
void settle_coding(SlideCase& slide, MaskCoding otherwise);

/// The classes of the labels of these slides, by value: the given ones, or the known ones of the
/// annotations. Errors: usage.
std::vector<std::string> classes_of(const std::vector<std::string>& given,
                                    const std::vector<SlideCase>& slides);

}  // namespace headrace::ingest
