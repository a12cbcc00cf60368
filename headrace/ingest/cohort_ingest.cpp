#include "headrace/ingest/cohort_ingest.hpp"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/progress.hpp"
#include "headrace/ingest/journal.hpp"
#include "headrace/ingest/ordered_tasks.hpp"
#include "headrace/ingest/recording_store.hpp"
#include "headrace/ingest/store_lock.hpp"
#include "headrace/source/store_format.hpp"
#include "headrace/storage/local_store.hpp"
#include "headrace/zarr/metadata.hpp"

namespace headrace::ingest {
namespace {

void remove_empty_folders(const std::string& root) {
  namespace fs = std::filesystem;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  // Deepest first; remove() leaves a folder that holds something alone.
  std::sort(folders.rbegin(), folders.rend());
  std::error_code ignored;
  for (const auto& folder : folders) fs::remove(folder, ignored);
}

class CohortIngest {
 public:
  CohortIngest(const CohortPlan& plan, ThreadPool& pool)
      : plan_(plan),
        pool_(pool),
        lock_(plan.out),
        local_(std::make_shared<storage::LocalStore>(plan.out)),
        journal_(local_, plan.kind, plan.settings) {}

  CohortOutcome run() {
    const std::vector<std::size_t> missing = find_missing();
    if (missing.empty() && !journal_.finished_hash().empty()) {
      log::info("{}: nothing to do, all {} images are ingested", plan_.out, plan_.images.size());
      images_ = journal_.images();
      journal_.close();  // of a run that was stopped between its manifest and its end
      remove_empty_folders(plan_.out);
      return outcome(journal_.finished_hash(), missing.size());
    }
    journal_.reopen_finished_store();
    clean_up();
    images_ = journal_.images();
    try {
      ingest(missing);
      return outcome(finish(), missing.size());
    } catch (...) {
      tidy_after_failure();
      throw;
    }
  }

 private:
  /// Images that are not stored yet.
  std::vector<std::size_t> find_missing() const {
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < plan_.images.size(); ++i) {
      const PlannedImage& image = plan_.images[i];
      const auto found = journal_.images().find(image.id);
      if (found == journal_.images().end()) {
        missing.push_back(i);
      } else if (found->second.fingerprint != image.fingerprint) {
        fail(ErrorCode::usage,
             "{}: image '{}' in {} was ingested from another file, annotation or table row; remove "
             "the store, choose another --out, or name the image otherwise",
             image.named, image.id, plan_.out);
      }
    }
    return missing;
  }

  /// Removes what an interrupted run left: temporary files, unfinished images, images that are no
  /// longer asked for.
  void clean_up() {
    local_->remove_leftovers();
    std::set<std::string> wanted;
    for (const auto& image : plan_.images) wanted.insert(image.id);
    std::vector<std::string> unwanted;
    for (const auto& [id, image] : journal_.images()) {
      if (!image.kept && !wanted.contains(id)) unwanted.push_back(id);
    }
    for (const auto& id : unwanted) {
      log::warning(
          "{}: image '{}' of the interrupted run is not among the inputs any more and is removed",
          plan_.out, id);
      journal_.discard(id);
    }
    erase_all_but(journal_.images());
  }

  /// Removes every object that belongs to none of these images, but not the journal.
  void erase_all_but(const std::map<std::string, FinishedImage>& images) {
    std::set<std::string> owned;
    for (const auto& [id, image] : images) {
      for (const auto& [key, entry] : image.objects) owned.insert(key);
    }
    for (const auto& key : local_->list("")) {
      if (!key.starts_with(".ingest/") && !owned.contains(key)) local_->erase(key);
    }
    remove_empty_folders(plan_.out);
  }

  /// Keeps whole images, so that the run can be taken up again when the cause is gone; nothing
  /// half-written stays.
  void tidy_after_failure() noexcept {
    try {
      erase_all_but(images_);
      if (!images_.empty()) return;
      journal_.close();
      remove_empty_folders(plan_.out);
    } catch (const std::exception& error) {
      log::warning("{}: could not be tidied up: {}", plan_.out, error.what());
    }
  }

  void ingest(const std::vector<std::size_t>& missing) {
    std::uint64_t pixel_bytes = 0;
    for (const std::size_t i : missing) pixel_bytes += plan_.images[i].pixel_bytes;
    Progress progress("ingest", pixel_bytes, "B");
    const Advance advance = [&](std::uint64_t bytes) { progress.advance(bytes); };
    run_in_order(pool_, missing.size(), plan_.at_once, [&](std::size_t m) {
      FinishedImage image = plan_.ingest(local_, missing[m], advance);
      journal_.add(image);
      const std::lock_guard lock(mutex_);
      images_[image.id] = std::move(image);
    });
  }

  std::string finish() {
    RecordingStore store(local_);
    for (const auto& folder : plan_.kind.folders) {
      store.put_text(folder + "/zarr.json", dump_json(zarr::group_metadata(Json::object())));
    }
    Json facts = plan_.root_facts(images_);
    facts["format"] = source::kStoreFormat;
    facts["kind"] = plan_.kind.name;
    facts["ingest"] = plan_.settings;
    store.put_text("zarr.json", dump_json(zarr::group_metadata({{"headrace", facts}})));
    Manifest manifest;
    manifest.objects = store.entries();
    for (const auto& [id, image] : images_)
      manifest.objects.insert(image.objects.begin(), image.objects.end());
    manifest.save(*local_);
    journal_.close();
    remove_empty_folders(plan_.out);
    return manifest.dataset_hash();
  }

  CohortOutcome outcome(const std::string& hash, std::size_t fresh) const {
    CohortOutcome outcome;
    outcome.dataset_hash = hash;
    outcome.reused = plan_.images.size() - fresh;
    for (const auto& image : plan_.images) outcome.images.push_back(images_.at(image.id));
    return outcome;
  }

  const CohortPlan& plan_;
  ThreadPool& pool_;
  StoreLock lock_;
  std::shared_ptr<storage::LocalStore> local_;
  Journal journal_;
  std::mutex mutex_;
  std::map<std::string, FinishedImage> images_;
};

}  // namespace

CohortOutcome ingest_cohort(const CohortPlan& plan, ThreadPool& pool) {
  return CohortIngest(plan, pool).run();
}

}  // namespace headrace::ingest
