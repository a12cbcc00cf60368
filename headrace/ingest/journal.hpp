#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/ingest/finished_image.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

/// What a run has finished so far, kept in the store below `.ingest/` until the manifest is
/// written.
///
/// The order of writes makes every moment safe to stop at: an image's objects, its group's
/// zarr.json, its record here; at the end the root group, then manifest.json, then the journal
/// goes. A store is finished if and only if it has a manifest.
class Journal {
 public:
  /// Reads what is there. `settings`: the options that decide about the store's bytes.
  /// Errors: usage (the store is of another kind, or was begun with other settings; says which).
  Journal(std::shared_ptr<storage::Store> store, CohortKind kind, Json settings);

  /// A finished store becomes an unfinished one that keeps its images; its manifest is removed.
  /// Does nothing otherwise.
  void reopen_finished_store();
  /// The dataset hash, if the store is finished.
  const std::string& finished_hash() const noexcept { return finished_hash_; }

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
  void begin();
  void load_finished_store();
  void load_records();

  std::shared_ptr<storage::Store> store_;
  CohortKind kind_;
  Json settings_;
  std::string finished_hash_;
  std::map<std::string, FinishedImage> images_;
};

}  // namespace headrace::ingest
