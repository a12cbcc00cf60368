#pragma once
#include <map>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/ingest/run/finished_image.hpp"

namespace headrace::ingest {

/// Stores of slides: an image's colour sums enter the cohort facts of a version.
CohortKind slide_kind();

/// What a version of a store of slides states about the cohort: colour statistics of each scanner
/// and of the whole, merged from integers, so that order does not matter.
Json slide_cohort_facts(const std::map<std::string, FinishedImage>& images);

}  // namespace headrace::ingest
