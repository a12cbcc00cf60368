#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headrace/cohort/store_version.hpp"
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

}  // namespace headrace::ingest
