#pragma once
#include <string>

#include "headrace/cohort/store_version.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

/// Writes the index of version `hash`, whose objects are all stored, unless it is there
/// (cohort/store_index.hpp). `former`: the current version's hash, whose index gives what both have;
/// empty where there is none. Where an index can't be made, a warning says why: the store is read
/// without.
void put_index(storage::Store& store, const cohort::StoreVersion& version, const std::string& hash,
               const std::string& former);

}  // namespace headrace::ingest
