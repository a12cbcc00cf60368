#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headrace/cohort/store_version.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

struct ManifestEntry {
  std::string sha256;
  std::uint64_t size_bytes = 0;
};

/// Objects by key.
using ObjectList = std::map<std::string, ManifestEntry>;

/// Writes the list of an image's own objects, or of those of one of its label images (`name`: its
/// group), at manifests/<image>/<name>.json. It never changes.
cohort::StoredPart put_part(storage::Store& store, const std::string& image,
                            const std::string& name, const ObjectList& objects);
/// Reads it. Errors: corrupt (missing, or with another hash than in `part`).
ObjectList load_part(const storage::Store& store, const std::string& image, const std::string& name,
                     const cohort::StoredPart& part);
/// The same for a list whose hash is in no version yet; nothing where there is none.
std::optional<cohort::StoredPart> find_part(const storage::Store& store, const std::string& image,
                                            const std::string& name);

struct Damage {
  enum class Kind { missing, truncated, changed, foreign, manifest } kind;
  std::string key, detail;
};

struct Verification {
  std::vector<Damage> damage;         ///< by key
  std::vector<std::string> versions;  ///< that were checked
  /// Objects of no version: from an ingest that was stopped, or from versions that were given up.
  /// They are not damage; `headrace prune` removes them.
  std::vector<std::string> unreferenced;
};

/// Reads every object of every version, or of the one that `version` names (Cohort::open), once,
/// and compares it with its list, the list with its version, and the version with its name. Objects
/// that are in no list but lie among listed ones are reported too. Errors: usage (no such version),
/// io.
Verification verify(const storage::Store& store, ThreadPool& pool, const std::string& version = "");

}  // namespace headrace::ingest
