#pragma once
#include <string>

#include "headrace/source/store_version.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

/// The version that a store has now; nothing (no images, empty hash) before its first one.
struct CurrentVersion {
  std::string hash;
  source::StoreVersion version;
};
CurrentVersion current_version(const storage::Store& store);

/// Makes `version`, whose objects are all stored, the current one of the store and gives its hash.
/// Its own object is written first and manifest.json is replaced last, in one step, so that a store
/// has either version whole at every moment. A version that is the current one already leaves
/// everything as it is.
/// message: what the log says of it; see check_message
std::string commit_version(storage::Store& store, const source::StoreVersion& version,
                           const std::string& message);

/// Refuses a message that might identify a patient: it is held to the rules of names. Errors:
/// usage.
void check_message(const std::string& message);

/// images/<id>/labels/zarr.json
std::string label_list_key(const std::string& image);
/// Its text: which label images tools that know nothing of versions
/// find. It is made of a version and belongs to none.
std::string label_list_text(const source::VersionImage& image);
/// Writes those lists that are not of this version.
void refresh_label_lists(storage::Store& store, const source::StoreVersion& version);

}  // namespace headrace::ingest
