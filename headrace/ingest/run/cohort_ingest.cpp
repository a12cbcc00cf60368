#include "headrace/ingest/run/cohort_ingest.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>

#include "headrace/cohort/store_format.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/ordered_tasks.hpp"
#include "headrace/core/progress.hpp"
#include "headrace/ingest/run/journal.hpp"
#include "headrace/ingest/store/folders.hpp"
#include "headrace/ingest/store/label_group.hpp"
#include "headrace/ingest/store/pixels_of_splits.hpp"
#include "headrace/ingest/store/recording_store.hpp"
#include "headrace/storage/open_store.hpp"
#include "headrace/storage/store_lock.hpp"
#include "headrace/zarr/metadata.hpp"

namespace headrace::ingest {
namespace {

class CohortIngest {
 public:
  CohortIngest(const CohortPlan& plan, ThreadPool& pool)
      : plan_(plan),
        pool_(pool),
        lock_(plan.out),
        local_(storage::open_store(storage::Place::parse(plan.out))),
        journal_(local_, plan.kind, plan.settings) {}

  CohortOutcome run() {
    check_classes();
    const std::vector<std::size_t> missing = find_missing();
    const CurrentVersion& current = journal_.current();
    if (missing.empty() && all_in(current.version)) {
      log::info("{}: nothing to do, all {} images are ingested", plan_.out, plan_.images.size());
      reused_ = plan_.images.size();
      images_ = journal_.images();
      refresh_label_lists(*local_, current.version);
      if (plan_.beside_version) plan_.beside_version(*local_, current.version);
      journal_.close();  // left by a run that was stopped between its manifest and its end
      remove_empty_folders(plan_.out);
      return outcome(current.hash);
    }
    journal_.begin();
    clean_up(missing);
    images_ = journal_.images();
    try {
      reused_ = plan_.images.size() - missing.size();
      ingest(missing);
      // The statements about an image do not wait for its pixels.
      for (const PlannedImage& image : plan_.images) {
        const auto found = images_.find(image.id);
        if (found != images_.end() && !found->second.kept) found->second.columns = image.columns;
      }
      return outcome(finish());
    } catch (...) {
      tidy_after_failure();
      throw;
    }
  }

 private:
  /// One list of classes must begin with the other.
  void check_classes() const {
    check_class_sets();
    const auto& stored = journal_.current().version.classes;
    const std::size_t common = std::min(stored.size(), plan_.classes.size());
    if (std::equal(stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(common),
                   plan_.classes.begin()))
      return;
    fail(ErrorCode::usage,
         "{}: has the classes {}, now they are {}; use the same, or add some after them", plan_.out,
         fmt::join(stored, ", "), fmt::join(plan_.classes, ", "));
  }

  /// Values of sets follow those of the classes, so with sets the classes can't change.
  void check_class_sets() const {
    const cohort::StoreVersion& stored = journal_.current().version;
    if (stored.classes.empty() || plan_.classes.empty()) return;
    const auto known = stored.class_sets();
    const bool any = !known.empty() || !plan_.class_sets.empty();
    const bool other = !known.empty() && !plan_.class_sets.empty() && known != plan_.class_sets;
    if (!other && (!any || plan_.classes == stored.classes)) return;
    fail(
        ErrorCode::usage,
        "{}: its class sets are {} of the classes {}, now they are {} of {}; in a store with class "
        "sets both must stay as they are, since the sets' label values follow the classes'",
        plan_.out, to_json(known, stored.classes).dump(), fmt::join(stored.classes, ", "),
        to_json(plan_.class_sets, plan_.classes).dump(), fmt::join(plan_.classes, ", "));
  }

  /// Images that are not stored yet.
  std::vector<std::size_t> find_missing() const {
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < plan_.images.size(); ++i) {
      const PlannedImage& image = plan_.images[i];
      const auto found = journal_.images().find(image.id);
      if (found == journal_.images().end()) {
        missing.push_back(i);
      } else if (found->second.fingerprint != image.fingerprint) {
        fail(
            ErrorCode::usage,
            "{}: image '{}' in {} was ingested from another file; remove the store, choose another "
            "{}, or name the image otherwise",
            image.named, image.id, plan_.out, Option{"out"});
      } else if (found->second.kept) {
        check_labels(image, found->second);
        check_columns(image, found->second);
      } else if (found->second.label_fingerprint != image.label_fingerprint) {
        missing.push_back(i);  // the interrupted run read other labels
      }
    }
    return missing;
  }

  bool all_in(const cohort::StoreVersion& version) const {
    return !version.images.empty() && plan_.classes.size() <= version.classes.size() &&
           (plan_.class_sets.empty() || plan_.class_sets == version.class_sets()) &&
           std::all_of(plan_.images.begin(), plan_.images.end(), [&](const PlannedImage& image) {
             return version.images.contains(image.id);
           });
  }

  /// This command does not change labels of a stored image.
  void check_labels(const PlannedImage& image, const FinishedImage& stored) const {
    if (image.label_fingerprint.empty()) return;
    const auto label = stored.labels.find(kLabelName);
    const auto known = remembered_group(*local_, image.id, image.label_fingerprint);
    if (known && label != stored.labels.end() && *known == label->second.group) return;
    fail(ErrorCode::usage,
         "{}: image '{}' is in {} with {}; `headrace ingest labels {}` gives a store other labels",
         image.named, image.id, plan_.out,
         label == stored.labels.end() ? "no annotation" : "another annotation", plan_.out);
  }

  void check_columns(const PlannedImage& image, const FinishedImage& stored) const {
    for (const auto& [column, value] : image.stated.items()) {
      const Json before = stored.columns.value(column, Json());
      if (before == value) continue;
      fail(ErrorCode::usage,
           "{}: image '{}' is in {} with {} {}, here it is {}; `headrace ingest labels {} {}` "
           "gives a store other columns",
           image.named, image.id, plan_.out, column, before.dump(), value.dump(), plan_.out,
           Option{"table"});
    }
  }

  /// Removes what an interrupted run left: temporary files, unfinished images, images that are no
  /// longer asked for.
  void clean_up(const std::vector<std::size_t>& missing) {
    local_->remove_leftovers();
    std::set<std::string> wanted;
    for (const auto& image : plan_.images) wanted.insert(image.id);
    std::vector<std::string> unwanted;
    for (const auto& [id, image] : journal_.images()) {
      if (!image.kept && !wanted.contains(id)) unwanted.push_back(id);
    }
    for (const std::size_t i : missing) {
      if (journal_.images().contains(plan_.images[i].id)) journal_.discard(plan_.images[i].id);
    }
    for (const auto& id : unwanted) {
      log::warning(
          "{}: image '{}' of the interrupted run is not among the inputs any more and is removed",
          plan_.out, id);
      journal_.discard(id);
    }
    erase_all_but(journal_.images());
  }

  /// Removes every object of an image that is none of these, and labels that were not finished.
  /// Objects of any version stay.
  void erase_all_but(const std::map<std::string, FinishedImage>& images) {
    std::set<std::string> owned;
    for (const auto& [id, image] : images) owned.insert(id);
    if (local_->exists("manifest.json")) {
      for (const auto& commit : cohort::StoreHead::load(*local_).log) {
        for (const auto& [id, image] : cohort::StoreVersion::load(*local_, commit.version).images)
          owned.insert(id);
      }
    }
    const bool any = !owned.empty();
    for (const auto& key : local_->list("")) {
      if (key.starts_with(kStagedLabels)) local_->erase(key);
      if (key.starts_with(".ingest/")) continue;
      if (const auto id = image_of(key); id ? !owned.contains(*id) : !any) local_->erase(key);
    }
    remove_empty_folders(plan_.out);
  }

  /// The image that an object belongs to; nothing for objects above the images.
  std::optional<std::string> image_of(const std::string& key) const {
    std::vector<std::string> folders = plan_.kind.folders;
    folders.insert(folders.end(), {"manifests", "sources"});
    for (const auto& folder : folders) {
      if (!key.starts_with(folder + "/")) continue;
      const std::string below = key.substr(folder.size() + 1);
      if (below == "zarr.json") return std::nullopt;
      const std::string id = below.substr(0, below.find('/'));
      return folder == "sources" ? id.substr(0, id.rfind(".json")) : id;
    }
    return std::nullopt;
  }

  /// Keeps whole images, so that the run can continue when the cause is gone; nothing half-written
  /// stays.
  void tidy_after_failure() noexcept {
    try {
      erase_all_but(images_);
      const bool fresh = std::any_of(images_.begin(), images_.end(),
                                     [](const auto& image) { return !image.second.kept; });
      if (fresh) return;
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
      std::optional<FinishedImage> image = ingest_or_leave_out(missing[m], advance);
      if (!image) return;
      journal_.add(*image);
      const std::lock_guard lock(mutex_);
      images_[image->id] = std::move(*image);
    });
    if (images_.empty()) check_left_out();
  }

  std::optional<FinishedImage> ingest_or_leave_out(std::size_t i, const Advance& advance) {
    const PlannedImage& image = plan_.images[i];
    try {
      return plan_.ingest(local_, i, advance);
    } catch (const Error& error) {
      if (plan_.on_error == OnError::stop || !is_of_source(error.code())) throw;
      erase_image(image.id);
      log::warning("left out: {}", error.what());
      const std::lock_guard lock(mutex_);
      left_out_[i] = {image.named, error.code(), error.what()};
      return std::nullopt;
    }
  }

  void erase_image(const std::string& id) {
    auto prefixes = plan_.kind.prefixes(id);
    prefixes.push_back("manifests/" + id + "/");
    for (const auto& prefix : prefixes) {
      for (const auto& key : local_->list(prefix)) local_->erase(key);
    }
    local_->erase("sources/" + id + ".json");
  }

  void check_left_out() const {
    BadInputs bad(plan_.on_error);
    for (const auto& [i, one] : left_out_) bad.add(one);
    bad.check(0);
  }

  /// The groups above the images, the version, and manifest.json, last.
  std::string finish() {
    RecordingStore store(local_);
    for (const auto& folder : plan_.kind.folders) {
      store.put_text(folder + "/zarr.json", dump_json(zarr::group_metadata(Json::object())));
    }
    const Json facts{
        {"format", cohort::kStoreFormat}, {"kind", plan_.kind.name}, {"ingest", plan_.settings}};
    store.put_text("zarr.json", dump_json(zarr::group_metadata({{"headrace", facts}})));
    cohort::StoreVersion version;
    version.kind = plan_.kind.name;
    version.classes = classes();
    version.facts = journal_.current().version.facts;  // facts of an earlier ingest stay
    version.facts.update(plan_.version_facts(images_, version.classes));
    if (!plan_.class_sets.empty())
      version.facts["class_sets"] = to_json(plan_.class_sets, version.classes);
    for (const auto& [key, entry] : store.entries())
      version.root[key] = {entry.sha256, entry.size_bytes};
    for (const auto& [id, image] : images_) version.images[id] = image.store_part(*local_);
    std::set<std::string> free;
    for (const PlannedImage& image : plan_.images) {
      if (!image.split_stated && !journal_.current().version.images.contains(image.id))
        free.insert(image.id);
    }
    join_pixels_of_splits(*local_, free, version);
    check_pixels_of_splits(*local_, version, plan_.accept);
    if (plan_.beside_version) plan_.beside_version(*local_, version);
    const std::string hash = commit_version(*local_, version, "");
    journal_.close();
    remove_empty_folders(plan_.out);
    return hash;
  }

  /// Those of the store, or of this run where it has more of them.
  std::vector<std::string> classes() const {
    const auto& stored = journal_.current().version.classes;
    return stored.size() > plan_.classes.size() ? stored : plan_.classes;
  }

  CohortOutcome outcome(const std::string& hash) const {
    CohortOutcome outcome;
    outcome.dataset_hash = hash;
    outcome.reused = reused_;
    for (std::size_t i = 0; i < plan_.images.size(); ++i) {
      if (!left_out_.contains(i)) outcome.images.push_back(images_.at(plan_.images[i].id));
    }
    for (const auto& [i, bad] : left_out_) outcome.left_out.push_back(bad);
    return outcome;
  }

  const CohortPlan& plan_;
  ThreadPool& pool_;
  storage::StoreLock lock_;
  std::shared_ptr<storage::Store> local_;
  Journal journal_;
  std::mutex mutex_;
  std::map<std::string, FinishedImage> images_;
  std::map<std::size_t, BadInput> left_out_;  ///< by the plan's number
  std::size_t reused_ = 0;
};

}  // namespace

std::set<std::string> ids_of(const CohortOutcome& outcome) {
  std::set<std::string> ids;
  for (const FinishedImage& image : outcome.images) ids.insert(image.id);
  return ids;
}

CohortOutcome ingest_cohort(const CohortPlan& plan, ThreadPool& pool) {
  return CohortIngest(plan, pool).run();
}

}  // namespace headrace::ingest
