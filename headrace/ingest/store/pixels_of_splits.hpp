#pragma once
#include <set>
#include <string>

#include "headrace/cohort/store_version.hpp"
#include "headrace/ingest/inputs/doubt.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

/// Puts images with the same pixels into one split, with all images of their cases, where nothing
/// states the splits of one of them; says which. It is the split that is stated, or the first
/// image's. free: images whose split nothing states.
void join_pixels_of_splits(const storage::Store& store, const std::set<std::string>& free,
                           cohort::StoreVersion& version);

/// Refuses a version in which images of different splits have the same pixels: a network would be
/// judged by what it was trained on. Those of one split are said. Errors: usage.
void check_pixels_of_splits(const storage::Store& store, const cohort::StoreVersion& version,
                            const Accepted& accept);

}  // namespace headrace::ingest
