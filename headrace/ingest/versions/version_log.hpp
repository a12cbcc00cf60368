#pragma once
#include <string>

#include "headrace/cohort/store_version.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

/// The current version of a store; empty (no images, no hash) before the first one.
struct CurrentVersion {
  std::string hash;
  cohort::StoreVersion version;
};
CurrentVersion current_version(const storage::Store& store);

/// Makes `version`, whose objects are all stored, the store's current one and returns its hash. Its
/// own object and its index are written first and manifest.json is replaced last, in one step, so that a store has
/// either version whole at every moment. If it is the current version already, nothing changes.
/// message: its text in the log; see check_message
std::string commit_version(storage::Store& store, const cohort::StoreVersion& version,
                           const std::string& message);

/// Refuses a message that might identify a patient: it must follow the rules of names. Errors:
/// usage.
void check_message(const std::string& message);

/// images/<id>/labels/zarr.json
std::string label_list_key(const std::string& image);
/// Its text: the label images for tools that do not know versions. It is made from a version but
/// belongs to none.
std::string label_list_text(const cohort::VersionImage& image);
/// Writes those lists that differ from this version's.
void refresh_label_lists(storage::Store& store, const cohort::StoreVersion& version);

}  // namespace headrace::ingest
