#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "headrace/core/json.hpp"
#include "headrace/ingest/cohort_kind.hpp"
#include "headrace/ingest/manifest.hpp"

namespace headrace::ingest {

/// What is known of an image once all of it is stored: its part of the manifest and of what the
/// root group says.
struct FinishedImage {
  std::string id, fingerprint;
  std::map<std::string, ManifestEntry> objects;
  Json facts = Json::object();  ///< those of its group's attributes that CohortKind::facts names
  std::uint64_t pixel_bytes = 0, source_bytes = 0, passthrough_bytes = 0, dropped_chunks = 0;
  bool kept = false;  ///< of a store that was finished before this run began

  std::uint64_t stored_bytes() const;
  Json to_json() const;
  static FinishedImage parse(const Json& json, const std::string& origin);
  /// From the attributes of an image's group in a finished store; without objects. Errors:
  /// malformed.
  static FinishedImage of_stored(const CohortKind& kind, const std::string& id, const Json& group,
                                 const std::string& origin);
};

}  // namespace headrace::ingest
