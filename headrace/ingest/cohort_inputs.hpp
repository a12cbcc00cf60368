#pragma once
#include <string>
#include <vector>

#include "headrace/ingest/ingest_slides.hpp"
#include "headrace/ingest/slide_case.hpp"

namespace headrace::ingest {

/// The images of one run, sorted by id, and the classes of their labels.
struct CohortInputs {
  std::vector<SlideCase> slides;
  std::vector<std::string> classes;
};

/// Finds the images and what is known of them: files, folders, the cohort table, the folder of
/// annotations, PANDA's layout. Errors: usage, not_found, malformed; each names the file or the
/// table's line.
CohortInputs find_inputs(const SlideIngestOptions& options);

/// The classes of the labels of these slides, by value: those given, or those that the annotations
/// are known to have. Errors: usage.
std::vector<std::string> classes_of(const std::vector<std::string>& given,
                                    const std::vector<SlideCase>& slides);

}  // namespace headrace::ingest
