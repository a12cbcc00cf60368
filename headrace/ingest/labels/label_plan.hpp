#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/cohort/store_version.hpp"
#include "headrace/core/json.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/ingest/inputs/csv_table.hpp"
#include "headrace/ingest/labels/ingest_labels.hpp"
#include "headrace/ingest/slide/annotation_counts.hpp"
#include "headrace/ingest/store/label_group.hpp"

namespace headrace::ingest {

/// What the inputs of `ingest labels` state about one image of the store.
struct LabelUpdate {
  std::string image;
  std::string where;              ///< words in front of an error: a table's line, or a file
  Json columns = Json::object();  ///< columns to change; null: no longer known
  bool withdraw = false;          ///< the label image of the set is withdrawn
  std::string fingerprint;        ///< of its label files; empty: none are given
};

/// The same for all images, for either kind of store.
struct LabelPlan {
  std::vector<LabelUpdate> updates;  ///< by image, each once
  std::vector<std::string> classes;  ///< that the version will have
  Json facts;                        ///< StoreVersion::facts that follow from the classes
  std::vector<std::string> notes;
  UnusedFiles unused;
  /// Examines the label files of updates[i], so that most bad ones are found before anything is
  /// written. Returns the memory in bytes that writing them takes.
  std::function<std::uint64_t(std::size_t i)> look;
  /// Judges what all that were examined show together; called after the last look. May be empty.
  std::function<void()> settle;
  /// Objects of the annotations that were examined and are not painted; may be empty.
  std::function<AnnotationCounts()> counts;
  /// Writes the label image of updates[i].
  std::function<void(std::size_t i, StagedLabels&)> write;
};

/// An open store while its labels change.
struct LabelStore {
  std::shared_ptr<storage::Store> store;
  const cohort::StoreVersion& version;
  Json settings;  ///< attributes.headrace.ingest of the root
  ThreadPool& pool;

  /// attributes.headrace of an image.
  Json image_info(const std::string& image) const;
};

LabelPlan plan_slide_labels(const LabelIngestOptions& options, const LabelStore& store);
LabelPlan plan_volume_labels(const LabelIngestOptions& options, const LabelStore& store);

/// What a version of a store of slides states about the cohort: scanners are columns.
Json slide_facts_of(const LabelStore& store, const cohort::StoreVersion& version);

/// Classes of the new version: `given`, which must begin with those of the store, or the store's.
/// Errors: usage.
std::vector<std::string> extended_classes(const std::vector<std::string>& stored,
                                          const std::vector<std::string>& given);

/// Removes "-" from a row and returns the columns that had it: they are to be cleared. Errors:
/// usage (a column that can't be empty).
std::vector<std::string> take_cleared(TableRow& row, const std::vector<std::string>& clearable);

/// The image of the store that a row names by its column `image`, or by `file`. Errors: usage.
std::string image_of_row(const std::string& image, const std::string& file,
                         const std::string& where, const cohort::StoreVersion& version);

}  // namespace headrace::ingest
