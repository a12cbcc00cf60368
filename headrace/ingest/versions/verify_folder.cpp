#include "headrace/ingest/versions/verify_folder.hpp"

#include "headrace/cohort/store_version.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::ingest {

FolderVerification verify_folder(const std::string& folder, ThreadPool& pool,
                                 const std::string& version) {
  const auto opened =
      storage::open_existing_store(storage::Place::parse(folder), {.disk_cache = false});
  const storage::Store& store = *opened;
  FolderVerification result{folder, verify(store, pool, version), {}, {}};
  if (holds_volumes(store)) result.phi = check_phi(store, pool);
  const auto& [damage, versions, unreferenced] = result.objects;
  if (damage.empty())
    result.dataset_hash =
        versions.size() == 1 ? versions.front() : cohort::StoreHead::load(store).current;
  return result;
}

Json FolderVerification::report() const {
  Json damages = Json::array();
  for (const auto& damage : objects.damage) {
    damages.push_back(
        {{"key", damage.key}, {"kind", name_of(damage.kind)}, {"detail", damage.detail}});
  }
  Json texts = Json::array();
  for (const auto& finding : phi)
    texts.push_back({{"key", finding.key}, {"at", finding.at}, {"detail", finding.detail}});
  Json report{{"store", folder},
              {"ok", sound()},
              {"damage", damages},
              {"phi", texts},
              {"versions", objects.versions},
              {"unreferenced", objects.unreferenced}};
  if (!dataset_hash.empty()) report["dataset_hash"] = dataset_hash;
  return report;
}

}  // namespace headrace::ingest
