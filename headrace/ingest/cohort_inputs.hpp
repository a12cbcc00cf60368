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

/// "train" or "val" of a case that the table does not place: by the SHA-256 of its name, so it
/// never moves.
std::string split_of_case(const std::string& case_id, double val_fraction);

/// An image id from a file's name: its stem, letters other than A-Z a-z 0-9 . _ - replaced by _.
std::string id_of_file(const std::string& file);

}  // namespace headrace::ingest
