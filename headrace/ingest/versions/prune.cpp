#include "headrace/ingest/versions/prune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "headrace/cohort/referenced_files.hpp"
#include "headrace/cohort/store_index.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/ingest/store/folders.hpp"
#include "headrace/ingest/store/label_group.hpp"
#include "headrace/ingest/store/manifest.hpp"
#include "headrace/ingest/store/stored_keys.hpp"
#include "headrace/ingest/versions/version_log.hpp"
#include "headrace/storage/open_store.hpp"
#include "headrace/storage/store_lock.hpp"

namespace headrace::ingest {
namespace {

using cohort::StoreHead;

/// Versions of the log in order of first appearance, each once.
std::vector<std::string> distinct_versions(const StoreHead& head) {
  std::vector<std::string> versions;
  for (const auto& commit : head.log) {
    if (std::find(versions.begin(), versions.end(), commit.version) == versions.end())
      versions.push_back(commit.version);
  }
  return versions;
}

std::vector<std::string> to_drop(const PruneOptions& options, const StoreHead& head) {
  std::set<std::string> drop;
  for (const auto& prefix : options.drop) drop.insert(head.find(prefix, options.store));
  if (drop.contains(head.current)) {
    fail(ErrorCode::usage, "{} {}: is the current version of {}; commit another one first",
         Option{"drop"}, head.current.substr(0, 12), options.store);
  }
  if (options.keep_last < 0)
    fail(ErrorCode::usage, "{} {}: must be 1 or more", Option{"keep_last"}, options.keep_last);
  if (options.keep_last > 0) {
    // The last ones are those committed last; a version that became current again counts by its
    // last commit.
    std::vector<std::string> last;
    for (auto commit = head.log.rbegin(); commit != head.log.rend(); ++commit) {
      if (std::find(last.begin(), last.end(), commit->version) == last.end())
        last.push_back(commit->version);
    }
    for (std::size_t i = static_cast<std::size_t>(options.keep_last); i < last.size(); ++i)
      drop.insert(last[i]);
  }
  std::vector<std::string> found;
  for (const auto& version : distinct_versions(head)) {
    if (drop.contains(version)) found.push_back(version);
  }
  return found;
}

/// The log without the dropped versions: a version's parent is the nearest remaining one.
StoreHead without(const StoreHead& head, const std::vector<std::string>& dropped) {
  StoreHead left;
  left.current = head.current;
  std::string parent;
  for (const auto& commit : head.log) {
    if (std::find(dropped.begin(), dropped.end(), commit.version) != dropped.end()) continue;
    if (commit.version == parent) continue;
    left.log.push_back({commit.version, parent, commit.message});
    parent = commit.version;
  }
  return left;
}

/// Objects that the versions of a log do not have.
std::vector<std::string> unreferenced(const storage::Store& store, const StoreHead& head) {
  std::set<std::string> parts, images, versions;
  for (const auto& hash : distinct_versions(head)) {
    versions.insert({cohort::version_key(hash), cohort::index_key(hash)});
    for (const auto& [id, image] : cohort::StoreVersion::load(store, hash).images) {
      images.insert(id);
      parts.insert(part_folder(id, cohort::kPixelsPart));
      for (const auto& [set, label] : image.labels) parts.insert(part_folder(id, label.group));
    }
  }
  std::vector<std::string> keys;
  for (const auto& key : store.list("")) {
    using Kind = StoredKey::Kind;
    const StoredKey place = stored_key(key);
    const bool gone = (place.kind == Kind::version && !versions.contains(key)) ||
                      (place.kind == Kind::memory && !images.contains(place.image)) ||
                      (place.kind == Kind::object && !parts.contains(place.part)) ||
                      key.starts_with(kStagedLabels);
    if (gone) keys.push_back(key);
  }
  return keys;
}

/// Forgets removed label groups.
void clean_memories(storage::Store& store, const std::vector<std::string>& removed) {
  std::set<std::string> images;
  for (const auto& key : removed) {
    const StoredKey place = stored_key(key);
    if (place.kind == StoredKey::Kind::object) images.insert(place.image);
  }
  for (const auto& image : images) forget_missing_groups(store, image);
}

/// Of images that no version has any longer: their names may be a patient's.
void forget_files(storage::Store& store, const StoreHead& left) {
  cohort::References references = cohort::read_references(store);
  std::set<std::string> ids;
  for (const auto& version : distinct_versions(left)) {
    for (const auto& [id, image] : cohort::StoreVersion::load(store, version).images)
      ids.insert(id);
  }
  const std::size_t forgotten = std::erase_if(
      references.files, [&](const auto& entry) { return !ids.contains(entry.first); });
  if (forgotten > 0) store.put_text(cohort::kReferencesKey, cohort::references_text(references));
}

}  // namespace

PruneResult prune(const PruneOptions& options) {
  const auto opened = storage::open_existing_store(storage::Place::parse(options.store));
  storage::Store& store = *opened;
  std::optional<storage::StoreLock> lock;
  if (!options.dry_run) lock.emplace(options.store);  // which reads only
  const StoreHead head = StoreHead::load(store);
  if (store.exists(".ingest/settings.json")) {
    fail(ErrorCode::usage,
         "{}: an ingest was stopped here; run it again first, so that it goes on with what it has "
         "stored",
         options.store);
  }
  PruneResult result;
  result.dropped = to_drop(options, head);
  const StoreHead left = without(head, result.dropped);
  result.removed = unreferenced(store, left);
  for (const auto& key : result.removed) result.bytes += store.open(key)->size_bytes();
  if (options.dry_run) return result;
  // First the log, after which nothing refers to what is removed. Then the lists that name objects,
  // and their memories. So if it is killed in between, nothing refers to a missing object.
  if (!result.dropped.empty()) store.put_text("manifest.json", left.text());
  const auto names_objects = [](const std::string& key) {
    return key.starts_with("versions/") || key.starts_with("manifests/");
  };
  for (const auto& key : result.removed) {
    if (names_objects(key)) store.erase(key);
  }
  clean_memories(store, result.removed);
  forget_files(store, left);
  for (const auto& key : result.removed) {
    if (!names_objects(key)) store.erase(key);
  }
  store.remove_leftovers();
  remove_empty_folders(options.store);
  return result;
}

}  // namespace headrace::ingest
