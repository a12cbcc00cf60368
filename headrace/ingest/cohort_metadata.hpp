#pragma once
#include <map>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/ingest/finished_image.hpp"

namespace headrace::ingest {

/// Stores of slides: an image's scanner and colour sums reach the root group.
CohortKind slide_kind();

/// What the root group of a store of slides says: class names and colour statistics of each scanner
/// and of the whole cohort, merged from integers, so that no order matters.
Json slide_cohort_facts(const std::map<std::string, FinishedImage>& images,
                        const std::vector<std::string>& classes);

}  // namespace headrace::ingest
