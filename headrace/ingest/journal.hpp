#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/ingest/finished_image.hpp"
#include "headrace/ingest/version_log.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

/// What a run has finished so far, kept in the store below `.ingest/` until its version is written.
///
/// The order of writes makes every moment safe to stop at: an image's objects, its group's
/// zarr.json, its record here; at the end the root group, the version, manifest.json, then the
/// journal goes. A store is finished if and only if it has a manifest; one that gets more images
/// keeps the version that it has until then.
class Journal {
 public:
  /// Reads what is there. `settings`: the options that decide about the store's bytes.
  /// Errors: usage (the store is of another kind, or was begun with other settings; says which).
  Journal(std::shared_ptr<storage::Store> store, CohortKind kind, Json settings);

  /// Notes what this run makes, before it stores anything.
  void begin();
  /// The version that the store has; without hash and images before its first.
  const CurrentVersion& current() const noexcept { return current_; }

  /// Images that are stored whole, by id.
  const std::map<std::string, FinishedImage>& images() const noexcept { return images_; }
  /// Forgets an image and removes its objects.
  void discard(const std::string& id);
  /// Records that all of an image is stored. Safe from any thread.
  void add(const FinishedImage& image);
  /// Removes the journal.
  void close();

 private:
  void check_kind(const std::string& found) const;
  void check_settings(const Json& found, const std::string& where) const;
  void load_finished_store();
  void load_records();

  std::shared_ptr<storage::Store> store_;
  CohortKind kind_;
  Json settings_;
  CurrentVersion current_;
  std::map<std::string, FinishedImage> images_;
};

}  // namespace headrace::ingest
