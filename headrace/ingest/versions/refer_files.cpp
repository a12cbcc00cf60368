#include "headrace/ingest/versions/refer_files.hpp"

#include <vector>

#include "headrace/cohort/referenced_files.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/storage/open_store.hpp"
#include "headrace/storage/store_lock.hpp"

namespace headrace::ingest {

ReferResult refer_files(const ReferOptions& options) {
  const auto store = storage::open_existing_store(storage::Place::parse(options.store));
  const storage::StoreLock lock(options.store);
  cohort::References references = cohort::read_references(*store);
  const std::string origin = store->describe(cohort::kReferencesKey);
  if (references.files.empty()) {
    fail(ErrorCode::usage,
         "{}: says of no file that it has pixels: the store has them all itself, or the ingest is "
         "to be run again, which states them",
         origin);
  }
  ReferResult result{references.files.size(), references.root.describe(), {}};
  references.root = storage::Place::parse(storage::Place::parse(options.root).absolute());
  result.after = references.root.describe();
  const auto root = storage::open_store(references.root, {.disk_cache = false});
  std::vector<cohort::ReferencedFile*> files;
  for (auto& [id, file] : references.files) files.push_back(&file);
  ThreadPool pool(options.jobs);
  pool.parallel_for(files.size(), [&](std::size_t i) {
    files[i]->identity.clear();  // its contents are looked at
    files[i]->identity = cohort::open_referenced(*root, *files[i], origin)->identity();
  });
  store->put_text(cohort::kReferencesKey, cohort::references_text(references));
  return result;
}

}  // namespace headrace::ingest
