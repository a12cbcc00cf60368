#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "headrace/cohort/label_summary.hpp"

namespace headrace::ingest {

/// What a finished store states about what was left out, guessed or resolved.
struct StoreReport {
  std::vector<std::string> notes;  ///< a sentence each: "image a: …", "image a, labels 'b': …"
  std::map<std::string, cohort::LabelSummary> labels;  ///< by label set, of the whole store
  bool volumes = false;
};

/// images: those whose notes are taken. set: of labels' notes only those of this label set; empty:
/// of every set. Errors: as cohort::Cohort::open, notes_of and summarise_labels.
StoreReport report_store(const std::string& store, const std::set<std::string>& images,
                         const std::string& set = "");
/// The same of an open one, for all of its images.
StoreReport report_store(const cohort::Cohort& cohort);

}  // namespace headrace::ingest
