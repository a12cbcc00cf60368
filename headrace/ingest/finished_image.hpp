#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "headrace/core/json.hpp"
#include "headrace/ingest/manifest.hpp"
#include "headrace/transform/stain_estimate.hpp"

namespace headrace::ingest {

/// What is known of an image once all of it is stored: its part of the manifest and of the cohort's
/// statistics.
struct FinishedImage {
  std::string id, fingerprint, scanner;
  std::map<std::string, ManifestEntry> objects;
  transform::OdMoments moments;
  std::uint64_t pixel_bytes = 0, source_bytes = 0, passthrough_bytes = 0, dropped_chunks = 0;
  bool kept = false;  ///< of a store that was finished before this run began

  std::uint64_t stored_bytes() const;
  Json to_json() const;
  static FinishedImage parse(const Json& json, const std::string& origin);
};

}  // namespace headrace::ingest
