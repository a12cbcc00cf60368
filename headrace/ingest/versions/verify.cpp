#include "headrace/ingest/versions/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "headrace/cohort/referenced_files.hpp"
#include "headrace/cohort/store_index.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/progress.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/ingest/store/label_group.hpp"
#include "headrace/ingest/store/manifest.hpp"
#include "headrace/ingest/store/stored_keys.hpp"
#include "headrace/ingest/versions/version_log.hpp"
#include "headrace/storage/network_hosts.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::ingest {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{4} << 20;

std::string hash_object(const storage::Object& object) {
  Sha256 sha;
  std::vector<std::byte> piece(std::min<std::uint64_t>(kPieceBytes, object.size_bytes()));
  for (std::uint64_t at = 0; at < object.size_bytes(); at += piece.size()) {
    const auto size = std::min<std::uint64_t>(piece.size(), object.size_bytes() - at);
    const std::span<std::byte> part(piece.data(), size);
    object.read(at, part);
    sha.update(std::span<const std::byte>(part));
  }
  return sha.hex();
}

void check_object(const storage::Store& store, const std::string& key, const ManifestEntry& entry,
                  std::vector<Damage>& found) {
  const auto object = store.open(key);
  if (!object) {
    found.push_back(
        {Damage::Kind::missing, key, fmt::format("{} bytes are listed", entry.size_bytes)});
    return;
  }
  if (object->size_bytes() != entry.size_bytes) {
    found.push_back(
        {object->size_bytes() < entry.size_bytes ? Damage::Kind::truncated : Damage::Kind::changed,
         key, fmt::format("{} bytes, {} are listed", object->size_bytes(), entry.size_bytes)});
    return;
  }
  const std::string sha256 = hash_object(*object);
  if (sha256 != entry.sha256) {
    found.push_back(
        {Damage::Kind::changed, key, fmt::format("sha256 {}, {} is listed", sha256, entry.sha256)});
  }
}

class Verifier {
 public:
  Verifier(const storage::Store& store, ThreadPool& pool) : store_(store), pool_(pool) {}

  Verification run(const std::string& prefix) {
    if (!read_head()) return std::move(result_);
    const std::string wanted = prefix.empty() ? "" : head_.find(prefix, store_.describe(""));
    std::set<std::string> seen;
    for (const auto& commit : head_.log) {
      if (!seen.insert(commit.version).second) continue;
      read_version(commit.version, wanted.empty() || commit.version == wanted);
    }
    check_entries();
    check_files();
    auto& damage = result_.damage;
    // Objects that a commit adds meanwhile are neither foreign nor changed.
    const auto found = static_cast<std::ptrdiff_t>(damage.size());
    do {
      damage.erase(damage.begin() + found, damage.end());
      result_.unreferenced.clear();
      look_around();
    } while (head_moved());
    std::sort(damage.begin(), damage.end(),
              [](const Damage& a, const Damage& b) { return a.key < b.key; });
    return std::move(result_);
  }

 private:
  void add(Damage::Kind kind, const std::string& key, const std::string& detail) {
    result_.damage.push_back({kind, key, detail});
  }

  bool read_head() {
    try {
      head_ = cohort::StoreHead::load(store_);
    } catch (const Error& error) {
      const auto kind =
          error.code() == ErrorCode::corrupt ? Damage::Kind::missing : Damage::Kind::manifest;
      add(kind, "manifest.json", error.what());
      return false;
    }
    if (head_.text() != store_.get_text("manifest.json"))
      add(Damage::Kind::manifest, "manifest.json", "its text is not as it is written");
    known_.insert({"manifest.json", cohort::kReferencesKey});
    return true;
  }

  /// Whether a version was committed since; then it is known.
  bool head_moved() {
    const cohort::StoreHead now = cohort::StoreHead::load(store_);
    if (now.text() == head_.text()) return false;
    head_ = now;
    for (const auto& commit : head_.log) {
      if (!known_.contains(cohort::version_key(commit.version)))
        read_version(commit.version, false);
    }
    return true;
  }

  /// Objects that a version names are known, whether they are checked or not.
  void read_version(const std::string& hash, bool check) {
    const std::string key = cohort::version_key(hash);
    known_.insert({key, cohort::index_key(hash)});
    if (check) result_.versions.push_back(hash);
    try {
      const cohort::StoreVersion version = cohort::StoreVersion::load(store_, hash);
      for (const auto& [root_key, entry] : version.root) {
        known_.insert(root_key);
        if (check) entries_[root_key] = {entry.sha256, entry.size_bytes};
      }
      const cohort::VersionImage unlabelled;
      for (const auto& [id, image] : version.images) {
        image_ids_.insert(id);
        const std::string list = label_list_key(id);
        texts_[list].insert({label_list_text(image), label_list_text(unlabelled)});
        if (check && !image.labels.empty() && !store_.exists(list) && known_.insert(list).second)
          add(Damage::Kind::missing, list, "names the label images for other tools");
        take(id, cohort::kPixelsPart, image.pixels, check);
        for (const auto& [set, label] : image.labels) take(id, label.group, label.part, check);
      }
      if (check) check_index(hash);
    } catch (const Error& error) {
      if (!check) return;
      add(store_.exists(key) ? Damage::Kind::changed : Damage::Kind::missing, key, error.what());
    }
  }

  /// An index holds copies of objects that are listed; one may be absent.
  void check_index(const std::string& hash) {
    const std::string key = cohort::index_key(hash);
    std::optional<cohort::IndexedObjects> indexed;
    try {
      indexed = cohort::read_index(store_, hash);
    } catch (const Error& error) {
      return add(Damage::Kind::changed, key, error.what());
    }
    if (!indexed || !unlisted_.empty()) return;
    for (const auto& [object, bytes] : *indexed) {
      const auto listed = entries_.find(object);
      if (listed != entries_.end() && listed->second.sha256 == sha256_hex(bytes)) continue;
      return add(Damage::Kind::changed, key,
                 fmt::format("its {} is not that of the version; remove the index", object));
    }
  }

  void take(const std::string& id, const std::string& name, const cohort::StoredPart& part,
            bool check) {
    const std::string key = cohort::part_key(id, name);
    folders_.insert(part_folder(id, name));
    const bool first = known_.insert(key).second || (check && !entries_.contains(key));
    if (!first) return;
    if (check) entries_[key] = {part.manifest_sha256, part.manifest_bytes};
    try {
      for (const auto& [object, entry] : load_part(store_, id, name, part)) {
        known_.insert(object);
        if (check) entries_[object] = entry;
      }
    } catch (const Error&) {
      // check_entries reports the list; its entries are unknown, so its objects are not called
      // foreign.
      unlisted_.insert(part_folder(id, name));
    }
  }

  void check_entries() {
    const std::vector<std::pair<std::string, ManifestEntry>> entries(entries_.begin(),
                                                                     entries_.end());
    std::vector<std::vector<Damage>> found(entries.size());
    std::uint64_t bytes = 0;
    for (const auto& [key, entry] : entries) bytes += entry.size_bytes;
    Progress progress("verify", bytes, "B");
    pool_.parallel_for(entries.size(), [&](std::size_t i) {
      try {
        check_object(store_, entries[i].first, entries[i].second, found[i]);
      } catch (const Error& error) {
        found[i] = {{Damage::Kind::changed, entries[i].first, error.what()}};
      }
      progress.advance(entries[i].second.size_bytes);
    });
    for (auto& list : found) result_.damage.insert(result_.damage.end(), list.begin(), list.end());
  }

  /// Files that have pixels of the store.
  void check_files() {
    std::vector<std::string> ids;
    for (const std::string& id : image_ids_) {
      if (entries_.contains(fmt::format("images/{}/0/{}", id, cohort::kTileTable)))
        ids.push_back(id);
    }
    if (ids.empty()) return;
    const std::string origin = store_.describe(cohort::kReferencesKey);
    const cohort::References references = cohort::read_references(store_);
    storage::check_host_is_named(references.root, origin);
    const auto root = storage::open_store(references.root, {.disk_cache = false});
    std::vector<std::vector<Damage>> found(ids.size());
    pool_.parallel_for(ids.size(), [&](std::size_t i) {
      try {
        check_file(*root, references, ids[i], origin);
      } catch (const Error& error) {
        const bool gone = error.code() == ErrorCode::not_found;
        found[i] = {{gone ? Damage::Kind::missing : Damage::Kind::changed,
                     fmt::format("images/{}/{}", ids[i], cohort::kSourceName), error.what()}};
      }
    });
    for (auto& list : found) result_.damage.insert(result_.damage.end(), list.begin(), list.end());
  }

  void check_file(const storage::Store& root, const cohort::References& references,
                  const std::string& id, const std::string& origin) const {
    const auto file = references.files.find(id);
    if (file == references.files.end()) {
      fail(ErrorCode::not_found,
           "{} does not say where its file lies; ingest the slide again, which states it", origin);
    }
    const std::string group = fmt::format("images/{}/zarr.json", id);
    const Json facts = parse_json(store_.get_text(group), store_.describe(group));
    cohort::ReferencedFile ingested = file->second;
    ingested.identity.clear();  // its contents are looked at, whenever it was changed
    const Json* source = find_at(facts, {"attributes", "headrace", "source"});
    if (source == nullptr || source->value("stamp", "") != ingested.stamp ||
        source->value("bytes", std::uint64_t{0}) != ingested.size_bytes)
      fail(ErrorCode::corrupt, "{} states another file than the store was made of", origin);
    cohort::open_referenced(root, ingested, origin);
  }

  /// Objects that no list has: views and memories, leftovers, and foreign ones.
  void look_around() {
    if (!store_.can_list()) {
      log::info("{}: what lies beside the store's own objects can't be seen there",
                store_.describe("manifest.json"));
      return;
    }
    for (const auto& key : store_.list("")) {
      if (known_.contains(key) || key.starts_with(".ingest/")) continue;
      if (texts_.contains(key)) {
        if (!texts_.at(key).contains(store_.get_text(key)))
          add(Damage::Kind::changed, key, "names other label images than any version");
        continue;
      }
      const StoredKey place = stored_key(key);
      if (place.kind == StoredKey::Kind::memory && image_ids_.contains(place.image)) {
        if (!is_sound_memory(store_.get_text(key)))
          add(Damage::Kind::changed, key, "its text does not fit its sha256");
        continue;
      }
      if (place.kind == StoredKey::Kind::other || folders_.contains(place.part)) {
        if (!unlisted_.contains(place.part)) add(Damage::Kind::foreign, key, "no version has it");
        continue;
      }
      result_.unreferenced.push_back(key);
    }
  }

  const storage::Store& store_;
  ThreadPool& pool_;
  cohort::StoreHead head_;
  Verification result_;
  std::set<std::string> known_, image_ids_;
  std::map<std::string, std::set<std::string>> texts_;  ///< by list of label images
  std::set<std::string> folders_;                       ///< of parts that a version has
  std::set<std::string> unlisted_;                      ///< of those whose list is damaged
  ObjectList entries_;                                  ///< to check
};

}  // namespace

Verification verify(const storage::Store& store, ThreadPool& pool, const std::string& version) {
  return Verifier(store, pool).run(version);
}

}  // namespace headrace::ingest
