#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "headrace/core/threads.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

struct ManifestEntry {
  std::string sha256;
  std::uint64_t size_bytes = 0;
};

/// Every object of a store with its SHA-256 and size; manifest.json itself is not listed.
struct Manifest {
  std::map<std::string, ManifestEntry> objects;
  /// Merkle root: SHA-256 over the lines "<sha256> <size> <key>\n" in key order of each top folder,
  /// then over the folders' digests in the same form (docs/formats.md).
  std::string dataset_hash() const;

  static Manifest load(const storage::Store& store);  ///< errors: not_found, malformed
  void save(storage::Store& store) const;  ///< written last: a store without it is not finished
};

struct Damage {
  enum class Kind { missing, truncated, changed, foreign, manifest } kind;
  std::string key, detail;
};

/// Reads every object and compares it with the manifest. Foreign objects are reported too.
std::vector<Damage> verify(const storage::Store& store, ThreadPool& pool);

}  // namespace headrace::ingest
