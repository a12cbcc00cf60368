#include "headrace/ingest/versions/put_index.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "headrace/cohort/store_index.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/ingest/store/manifest.hpp"

namespace headrace::ingest {
namespace {

using cohort::IndexedObjects;
using cohort::StoredPart;
using cohort::StoreVersion;

/// What an earlier version's index has, by parts that are the same.
class Former {
 public:
  Former(const storage::Store& store, const std::string& hash) {
    if (hash.empty()) return;
    try {
      objects_ = cohort::read_index(store, hash);
      if (objects_) version_ = StoreVersion::load(store, hash);
    } catch (const Error&) {  // verify says what is wrong with it
      objects_.reset();
    }
  }

  /// Adds the objects of a part with these beginnings of keys; false where it was another part.
  bool take(const std::string& image, const std::string& group, const StoredPart& part,
            IndexedObjects& out) const {
    const auto found = objects_ ? version_.images.find(image) : version_.images.end();
    if (found == version_.images.end()) return false;
    const StoredPart* same = nullptr;
    if (group == cohort::kPixelsPart) same = &found->second.pixels;
    for (const auto& [set, label] : found->second.labels) {
      if (label.group == group) same = &label.part;
    }
    if (same == nullptr || *same != part) return false;
    const std::string labels = fmt::format("images/{}/labels/", image);
    if (group != cohort::kPixelsPart) {
      copy(labels + group + "/", {}, out);
    } else {
      copy(fmt::format("images/{}/", image), labels, out);
      for (const char* folder : {"index", "histograms"})
        copy(fmt::format("{}/{}/", folder, image), {}, out);
    }
    return true;
  }

 private:
  void copy(const std::string& prefix, const std::optional<std::string>& but,
            IndexedObjects& out) const {
    for (auto at = objects_->lower_bound(prefix);
         at != objects_->end() && at->first.starts_with(prefix); ++at) {
      if (!but || !at->first.starts_with(*but)) out.insert(*at);
    }
  }

  std::optional<IndexedObjects> objects_;
  StoreVersion version_;
};

/// Objects that are missing or changed are left out: who reads them is told by the store.
void read_part(const storage::Store& store, const std::string& image, const std::string& name,
               const StoredPart& part, IndexedObjects& out) {
  for (const auto& [key, entry] : load_part(store, image, name, part)) {
    if (!cohort::is_indexed(key)) continue;
    const auto object = store.open(key);
    if (!object) continue;
    auto bytes = object->head(object->size_bytes());
    if (sha256_hex(bytes) == entry.sha256) out[key] = std::move(bytes);
  }
}

IndexedObjects objects_of_index(const storage::Store& store, const StoreVersion& version,
                                const Former& former) {
  std::vector<std::pair<const std::string*, const cohort::VersionImage*>> images;
  for (const auto& [id, image] : version.images) images.emplace_back(&id, &image);
  std::vector<IndexedObjects> found(images.size());
  ThreadPool pool(0);
  pool.parallel_for(images.size(), [&](std::size_t i) {
    const std::string& id = *images[i].first;
    const auto add = [&](const std::string& name, const StoredPart& part) {
      if (!former.take(id, name, part, found[i])) read_part(store, id, name, part, found[i]);
    };
    add(cohort::kPixelsPart, images[i].second->pixels);
    for (const auto& [set, label] : images[i].second->labels) add(label.group, label.part);
  });
  IndexedObjects all;
  for (auto& objects : found) all.merge(objects);
  return all;
}

}  // namespace

void put_index(storage::Store& store, const StoreVersion& version, const std::string& hash,
               const std::string& former) {
  const std::string key = cohort::index_key(hash);
  if (store.exists(key)) return;
  std::optional<std::vector<std::byte>> bytes;
  std::string why = "its objects are more than an index may hold";
  try {
    bytes = cohort::encode_index(hash, objects_of_index(store, version, {store, former}));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::cancelled) throw;
    why = error.what();
  }
  if (bytes) return store.put(key, *bytes);
  log::warning("{}: the version gets no index, and opens slower for that: {}", store.describe(key),
               why);
}

}  // namespace headrace::ingest
