#include "headrace/ingest/versions/put_index.hpp"

#include <utility>
#include <vector>

#include "headrace/cohort/store_index.hpp"
#include "headrace/core/sha256.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/ingest/store/manifest.hpp"

namespace headrace::ingest {
namespace {

cohort::IndexedObjects objects_of_index(const storage::Store& store,
                                        const cohort::StoreVersion& version) {
  std::vector<std::pair<const std::string*, const cohort::VersionImage*>> images;
  for (const auto& [id, image] : version.images) images.emplace_back(&id, &image);
  std::vector<cohort::IndexedObjects> found(images.size());
  ThreadPool pool(0);
  pool.parallel_for(images.size(), [&](std::size_t i) {
    const auto add = [&](const std::string& name, const cohort::StoredPart& part) {
      for (const auto& [key, entry] : load_part(store, *images[i].first, name, part)) {
        if (!cohort::is_indexed(key)) continue;
        const auto object = store.open(key);
        if (!object) continue;  // verify says so; who reads it is told by the store
        auto bytes = object->head(object->size_bytes());
        if (sha256_hex(bytes) == entry.sha256) found[i][key] = std::move(bytes);
      }
    };
    add(cohort::kPixelsPart, images[i].second->pixels);
    for (const auto& [set, label] : images[i].second->labels) add(label.group, label.part);
  });
  cohort::IndexedObjects all;
  for (auto& objects : found) all.merge(objects);
  return all;
}

}  // namespace

void put_index(storage::Store& store, const cohort::StoreVersion& version,
               const std::string& hash) {
  const std::string key = cohort::index_key(hash);
  if (!store.exists(key)) store.put(key, cohort::encode_index(objects_of_index(store, version)));
}

}  // namespace headrace::ingest
