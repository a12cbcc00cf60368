#pragma once
#include <string>

#include "headrace/cohort/store_version.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

/// Writes the index of a version whose objects are all stored, unless it is there
/// (cohort/store_index.hpp). Errors: corrupt (a list of objects is missing or another one).
void put_index(storage::Store& store, const cohort::StoreVersion& version, const std::string& hash);

}  // namespace headrace::ingest
