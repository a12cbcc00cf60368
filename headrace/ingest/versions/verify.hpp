#pragma once
#include <string>
#include <vector>

#include "headrace/core/enum_names.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

struct Damage {
  enum class Kind { missing, truncated, changed, foreign, manifest } kind;
  std::string key, detail;
};

}  // namespace headrace::ingest

namespace headrace {
template <>
inline constexpr auto kNamesOf<ingest::Damage::Kind> =
    names<ingest::Damage::Kind>({{ingest::Damage::Kind::missing, "missing"},
                                 {ingest::Damage::Kind::truncated, "truncated"},
                                 {ingest::Damage::Kind::changed, "changed"},
                                 {ingest::Damage::Kind::foreign, "foreign"},
                                 {ingest::Damage::Kind::manifest, "manifest"}});
}  // namespace headrace

namespace headrace::ingest {

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
