#include "headrace/ingest/ingest_slides.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/core/progress.hpp"
#include "headrace/core/yaml.hpp"
#include "headrace/ingest/cohort_inputs.hpp"
#include "headrace/ingest/cohort_metadata.hpp"
#include "headrace/ingest/journal.hpp"
#include "headrace/ingest/label_source.hpp"
#include "headrace/ingest/ordered_tasks.hpp"
#include "headrace/ingest/recording_store.hpp"
#include "headrace/ingest/slide_job.hpp"
#include "headrace/ingest/store_lock.hpp"
#include "headrace/storage/local_store.hpp"

namespace headrace::ingest {
namespace {

constexpr std::uint64_t kUnfinishedBytes =
    std::uint64_t{1} << 30;  // of all slides at work, besides tiles being read
constexpr std::size_t kKeepBytes = std::size_t{512} << 20;

void check_options(const SlideIngestOptions& options) {
  const std::vector<std::string> codecs{"auto", "blosc-zstd", "zstd", "jpeg"};
  if (std::find(codecs.begin(), codecs.end(), options.codec) == codecs.end()) {
    const auto nearest = nearest_name(options.codec, codecs);
    fail(ErrorCode::usage, "--codec {}: is none of {}{}", options.codec, fmt::join(codecs, ", "),
         nearest ? fmt::format(" (did you mean '{}'?)", *nearest) : "");
  }
  if (options.clevel < 0 || options.clevel > 9)
    fail(ErrorCode::usage, "--clevel {}: must be 0 to 9", options.clevel);
  if (options.val_fraction < 0 || options.val_fraction > 1) {
    fail(ErrorCode::usage, "--val-fraction {}: must be 0 to 1", options.val_fraction);
  }
  if (options.mpp && !(*options.mpp > 0))
    fail(ErrorCode::usage, "--mpp {}: must be more than 0", *options.mpp);
  if (options.out.empty()) fail(ErrorCode::usage, "--out: name the store's folder");
  coding_table(options.coding, 6);
}

/// What decides about the bytes of a store besides its inputs.
Json settings_of(const SlideIngestOptions& options, const std::vector<std::string>& classes) {
  return {{"codec", options.codec},   {"chunk", options.chunk},           {"shard", options.shard},
          {"clevel", options.clevel}, {"drop_glass", options.drop_glass}, {"classes", classes}};
}

/// Slides at work at the same time: as many as threads, less where their unfinished tiles would
/// take too much memory.
std::size_t slides_at_once(const std::vector<SlideOutlook>& outlooks, int threads) {
  std::uint64_t largest = 1;
  for (const auto& outlook : outlooks) largest = std::max(largest, outlook.memory_bytes);
  return std::clamp<std::uint64_t>(kUnfinishedBytes / largest, 1,
                                   static_cast<std::uint64_t>(threads));
}

/// Opens every input before anything is written, so that bad input leaves no store behind.
std::vector<SlideOutlook> look_at_all(const SlideIngestOptions& options,
                                      const std::vector<SlideCase>& slides,
                                      const std::vector<std::string>& classes, ThreadPool& pool) {
  std::vector<SlideOutlook> outlooks(slides.size());
  pool.parallel_for(slides.size(),
                    [&](std::size_t i) { outlooks[i] = look_at(slides[i], classes, options); });
  return outlooks;
}

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

class SlideIngest {
 public:
  explicit SlideIngest(const SlideIngestOptions& options)
      : options_(options),
        cohort_(find_inputs(options)),
        pool_(options.jobs),
        outlooks_(look_at_all(options, cohort_.slides, cohort_.classes, pool_)),
        lock_(options.out),
        local_(std::make_shared<storage::LocalStore>(options.out)),
        settings_(settings_of(options, cohort_.classes)),
        journal_(local_, settings_) {}

  SlideIngestResult run() {
    const std::vector<std::size_t> missing = find_missing();
    if (missing.empty() && !journal_.finished_hash().empty()) {
      log::info("{}: nothing to do, all {} images are ingested", options_.out, outlooks_.size());
      images_ = journal_.images();
      journal_.close();
      return result(journal_.finished_hash());
    }
    journal_.reopen_finished_store();
    clean_up();
    images_ = journal_.images();
    try {
      ingest(missing);
      return result(finish());
    } catch (...) {
      tidy_after_failure();
      throw;
    }
  }

 private:
  /// Inputs that are not stored yet. Errors: usage (a stored image of the same name came from
  /// something else).
  std::vector<std::size_t> find_missing() {
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < outlooks_.size(); ++i) {
      const SlideCase& slide = cohort_.slides[i];
      const auto found = journal_.images().find(slide.id);
      if (found == journal_.images().end()) {
        missing.push_back(i);
      } else if (found->second.fingerprint != outlooks_[i].fingerprint) {
        fail(ErrorCode::usage,
             "{}: image '{}' in {} was ingested from another file, annotation or table row; remove "
             "the store, choose "
             "another --out, or name the image otherwise",
             describe(slide), slide.id, options_.out);
      }
    }
    reused_ = outlooks_.size() - missing.size();
    return missing;
  }

  /// Removes what an interrupted run left: temporary files, unfinished images, images that are no
  /// longer asked for.
  void clean_up() {
    local_->remove_leftovers();
    std::set<std::string> wanted;
    for (const auto& slide : cohort_.slides) wanted.insert(slide.id);
    std::vector<std::string> unwanted;
    for (const auto& [id, image] : journal_.images()) {
      if (!image.kept && !wanted.contains(id)) unwanted.push_back(id);
    }
    for (const auto& id : unwanted) {
      log::warning(
          "{}: image '{}' of the interrupted run is not among the inputs any more and is removed",
          options_.out, id);
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
    remove_empty_folders(options_.out);
  }

  /// Keeps whole images, so that the run can be taken up again when the cause is gone; nothing
  /// half-written stays.
  void tidy_after_failure() noexcept {
    try {
      erase_all_but(images_);
      if (!images_.empty()) return;
      journal_.close();
      remove_empty_folders(options_.out);
    } catch (const std::exception& error) {
      log::warning("{}: could not be tidied up: {}", options_.out, error.what());
    }
  }

  void ingest(const std::vector<std::size_t>& missing) {
    std::uint64_t pixel_bytes = 0;
    for (const std::size_t i : missing) pixel_bytes += outlooks_[i].pixel_bytes;
    Progress progress("ingest", pixel_bytes, "B");
    const SlideContext context{
        local_, options_, cohort_.classes,
        pool_,  buffers_, [&](std::uint64_t bytes) { progress.advance(bytes); }};
    run_in_order(pool_, missing.size(), slides_at_once(outlooks_, pool_.size()),
                 [&](std::size_t m) {
                   const std::size_t i = missing[m];
                   FinishedImage image = ingest_slide(context, cohort_.slides[i], outlooks_[i]);
                   journal_.add(image);
                   const std::lock_guard lock(mutex_);
                   images_[image.id] = std::move(image);
                 });
  }

  std::string finish() {
    const auto store = std::make_shared<RecordingStore>(local_);
    write_cohort_groups(*store, images_, cohort_.classes, settings_);
    Manifest manifest;
    manifest.objects = store->entries();
    for (const auto& [id, image] : images_)
      manifest.objects.insert(image.objects.begin(), image.objects.end());
    manifest.save(*local_);
    journal_.close();
    remove_empty_folders(options_.out);
    return manifest.dataset_hash();
  }

  SlideIngestResult result(const std::string& hash) const {
    SlideIngestResult sums;
    sums.dataset_hash = hash;
    sums.images = outlooks_.size();
    sums.reused = reused_;
    for (const auto& slide : cohort_.slides) {
      const FinishedImage& image = images_.at(slide.id);
      sums.pixel_bytes += image.pixel_bytes;
      sums.stored_bytes += image.stored_bytes();
      sums.source_bytes += image.source_bytes;
      sums.passthrough_bytes += image.passthrough_bytes;
      sums.dropped_chunks += image.dropped_chunks;
    }
    return sums;
  }

  const SlideIngestOptions& options_;
  CohortInputs cohort_;
  ThreadPool pool_;
  std::vector<SlideOutlook> outlooks_;
  StoreLock lock_;
  std::shared_ptr<storage::LocalStore> local_;
  Json settings_;
  Journal journal_;
  BufferPool buffers_{kKeepBytes};
  std::mutex mutex_;
  std::map<std::string, FinishedImage> images_;
  std::uint64_t reused_ = 0;
};

}  // namespace

SlideIngestResult ingest_slides(const SlideIngestOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  check_options(options);
  SlideIngestResult result = SlideIngest(options).run();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace headrace::ingest
