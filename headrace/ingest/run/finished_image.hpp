#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "headrace/core/json.hpp"
#include "headrace/ingest/run/cohort_kind.hpp"
#include "headrace/ingest/store/manifest.hpp"

namespace headrace::ingest {

/// The facts about an image once all of it is stored: its part of a version.
struct FinishedImage {
  std::string id, fingerprint, label_fingerprint;  ///< as in PlannedImage
  ObjectList objects;  ///< the objects of its pixels; for a kept image see `pixels`
  std::optional<cohort::StoredPart> pixels;            ///< for a kept image
  std::map<std::string, cohort::VersionLabel> labels;  ///< by label set
  Json columns = Json::object();                       ///< what else a version states
  Json facts = Json::object();  ///< the attributes of its group that CohortKind::facts names
  std::uint64_t pixel_bytes = 0, source_bytes = 0, passthrough_bytes = 0, dropped_chunks = 0;
  bool kept = false;  ///< of a store that was finished before this run began

  std::uint64_t stored_bytes() const;
  Json to_json() const;
  static FinishedImage parse(const Json& json, const std::string& origin);
  /// An image of a finished store: its part of a version, and the attributes of its group. Errors:
  /// malformed.
  static FinishedImage of_stored(const CohortKind& kind, const std::string& id,
                                 const cohort::VersionImage& image, const Json& group,
                                 const std::string& origin);
  /// Its part of a version; writes the list of objects where it is not written yet.
  cohort::VersionImage store_part(storage::Store& store) const;
};

}  // namespace headrace::ingest
