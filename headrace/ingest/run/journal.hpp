#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/ingest/run/finished_image.hpp"
#include "headrace/ingest/versions/version_log.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

/// The finished part of a run, kept in the store below `.ingest/` until its version is written.
///
/// The order of writes makes it safe to stop at any moment: an image's objects, its group's
/// zarr.json, its record here; at the end the root group, the version and manifest.json are
/// written, then the journal is removed. A store is finished if and only if it has a manifest; a
/// store that gets more images keeps its version until then.
class Journal {
 public:
  /// Reads an existing journal. `settings`: the options that determine the store's bytes. Errors:
  /// usage (the store is of another kind, or was begun with other settings; names them).
  Journal(std::shared_ptr<storage::Store> store, CohortKind kind, Json settings);

  /// Notes what this run makes, before it stores anything.
  void begin();
  /// The store's current version; without hash and images before the first.
  const CurrentVersion& current() const noexcept { return current_; }

  /// Images that are completely stored, by id.
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
