#include "headrace/ingest/versions/version_log.hpp"

#include <fmt/format.h>

#include "headrace/cohort/ome_label.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/ingest/names/store_names.hpp"
#include "headrace/ingest/versions/put_index.hpp"
#include "headrace/zarr/metadata.hpp"

namespace headrace::ingest {

CurrentVersion current_version(const storage::Store& store) {
  CurrentVersion current;
  if (!store.exists("manifest.json")) return current;
  current.hash = cohort::StoreHead::load(store).current;
  current.version = cohort::StoreVersion::load(store, current.hash);
  return current;
}

void check_message(const std::string& message) {
  if (message.empty()) return;
  if (const auto why = why_no_name(message, true)) {
    fail(ErrorCode::usage, "{} '{}': {}; it would enter the store", Option{"message"}, message,
         *why);
  }
}

std::string commit_version(storage::Store& store, const cohort::StoreVersion& version,
                           const std::string& message) {
  check_message(message);
  cohort::StoreHead head;
  if (store.exists("manifest.json")) head = cohort::StoreHead::load(store);
  const std::string text = version.text(), hash = version.hash(), key = cohort::version_key(hash);
  if (head.current != hash) {
    if (!store.exists(key) || store.get_text(key) != text) store.put_text(key, text);
    put_index(store, version, hash, head.current);
    // So that a list is never missing; it is filled when the version has become the current one.
    for (const auto& [id, image] : version.images) {
      const std::string list = label_list_key(id);
      if (!image.labels.empty() && !store.exists(list)) store.put_text(list, label_list_text({}));
    }
    head.log.push_back({hash, head.current, message});
    head.current = hash;
    store.put_text("manifest.json", head.text());
  } else {
    put_index(store, version, hash, {});  // a version that was committed before there were indexes
  }
  refresh_label_lists(store, version);
  return hash;
}

std::string label_list_key(const std::string& image) {
  return fmt::format("images/{}/labels/zarr.json", image);
}

std::string label_list_text(const cohort::VersionImage& image) {
  std::vector<std::string> groups;
  for (const auto& [set, label] : image.labels) groups.push_back(label.group);
  return dump_json(zarr::group_metadata({{"ome", cohort::ome_labels_group(groups)}}));
}

void refresh_label_lists(storage::Store& store, const cohort::StoreVersion& version) {
  for (const auto& [id, image] : version.images) {
    const std::string key = label_list_key(id);
    const bool there = store.exists(key);
    if (image.labels.empty() && !there) continue;
    const std::string text = label_list_text(image);
    if (!there || store.get_text(key) != text) store.put_text(key, text);
  }
}

}  // namespace headrace::ingest
