#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "headrace/cohort/class_match.hpp"
#include "headrace/cohort/cohort.hpp"
#include "headrace/cohort/store_version.hpp"
#include "headrace/core/threads.hpp"

namespace headrace::cohort {

/// The state of an open cohort; for the files of this layer only.
struct Cohort::State {
  std::string path, kind, dataset_hash;
  std::vector<std::string> classes;
  std::vector<ClassSet> class_sets;
  std::vector<std::string> channels;  ///< of volumes; empty: one channel
  std::vector<IntensityUnit> units;   ///< of each channel
  std::vector<ImageRecord> images;
  ClassMatch match;               ///< from the store's classes and sets to the shown ones
  std::vector<std::string> seen;  ///< classes that the cohort shows; by default the store's
  std::shared_ptr<storage::Store> store;
  bool by_reference = false, by_requests = false;
  struct Arrays {
    std::shared_mutex mutex;
    std::map<std::string, std::shared_ptr<const zarr::Array>> by_key;
  };
  std::shared_ptr<Arrays> arrays = std::make_shared<Arrays>();  ///< shared by all views

  /// Opened when first asked for.
  std::shared_ptr<const zarr::Array> array(const std::string& key) const;
  std::vector<std::map<std::string, std::string>> label_groups;  ///< by image: set → group

  /// Checks that it is a store of ours.
  void read_root();
  void read_channels(const Json& ingest, const std::string& origin);
  /// Reads the version that `prefix` names, or the current one, and its index: from then on `store`
  /// is the one with the index.
  StoreVersion read_version(const std::string& prefix, ThreadPool& pool);
  void read_image(const std::string& id, const StoreVersion& version, ImageRecord& record) const;
  /// Errors: malformed, where a volume has other channels than its store.
  void check_channels(const ImageRecord& record, const std::string& origin) const;
  /// The group of an image's label image `labels`; nothing where it has none of that name.
  std::optional<std::string> label_group(std::size_t image, const std::string& labels) const;
  /// Amounts [label value][cell] as stored, rearranged to the shown values.
  std::vector<std::vector<std::uint32_t>> by_seen_class(
      std::vector<std::vector<std::uint32_t>> stored, std::size_t cells) const;
  /// Errors: usage, where the store is not of kind "volume".
  void require_volumes() const;
};

}  // namespace headrace::cohort
