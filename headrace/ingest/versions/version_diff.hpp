#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headrace/core/class_sets.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

/// The change of one label set of one image. `moved`: how many pixels or voxels of level 0 changed
/// from one value to another; without a label image all are kIgnoreLabel.
struct LabelChange {
  std::string image, set, kind;  ///< kind: added, withdrawn, replaced
  std::map<std::pair<std::uint8_t, std::uint8_t>, std::uint64_t> moved;
  std::uint64_t changed() const;
};

struct ColumnChange {
  std::string image, column;
  Json before, after;
};

/// Facts that a version states about all images: lesion classes, statistics by scanner.
struct FactChange {
  std::string name;
  Json before, after;
};

struct VersionDiff {
  std::string before, after;  ///< hashes
  std::vector<std::string> images_added, images_removed, pixels_changed;
  std::vector<std::string> classes_before, classes_after;
  std::vector<ClassSet> sets_before, sets_after;  ///< label values after those of the classes
  std::vector<LabelChange> labels;
  std::vector<ColumnChange> columns;
  std::vector<FactChange> facts;
  bool same() const;
};

/// Compares two versions of a store; label images are compared at level 0, shard by shard, and
/// shards that are the same object are not read. Errors: corrupt, io, usage (no such version).
VersionDiff diff_versions(const std::shared_ptr<const storage::Store>& store,
                          const std::string& before, const std::string& after, ThreadPool& pool);

/// The same as JSON, and in words, a line for each change.
Json to_json(const VersionDiff& diff);
std::vector<std::string> in_words(const VersionDiff& diff, const std::string& kind);

}  // namespace headrace::ingest
