#pragma once
#include <map>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/ingest/finished_image.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

/// Writes the groups above the images: images/, index/ and the root with class names and colour
/// statistics of each scanner and of the whole cohort, merged from integers, so that no order
/// matters.
void write_cohort_groups(storage::Store& store, const std::map<std::string, FinishedImage>& images,
                         const std::vector<std::string>& classes, const Json& settings);

}  // namespace headrace::ingest
