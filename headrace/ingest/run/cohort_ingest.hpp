#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "headrace/cohort/store_version.hpp"
#include "headrace/core/class_sets.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/ingest/inputs/bad_inputs.hpp"
#include "headrace/ingest/inputs/doubt.hpp"
#include "headrace/ingest/run/finished_image.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

/// An input that was examined, but not read yet.
struct PlannedImage {
  std::string id;
  std::string fingerprint;  ///< of the source
  std::string named;        ///< words in front of an error about it
  std::uint64_t pixel_bytes = 0;
  std::string label_fingerprint = {};  ///< of its labels; empty: the inputs have none
  Json columns = Json::object();       ///< what a version states about it
  Json stated = Json::object();        ///< the columns that the inputs state
  bool split_stated = false;           ///< else its split may follow images with the same pixels
};

/// Called with the bytes of pixels of each finished part. Safe from any thread.
using Advance = std::function<void(std::uint64_t)>;

/// The plan of what a run stores, for any kind of image.
struct CohortPlan {
  CohortKind kind;
  std::string out;                   ///< the store's folder
  Json settings;                     ///< what determines the bytes of images, besides the inputs
  std::vector<std::string> classes;  ///< of labels, by value
  std::vector<ClassSet> class_sets;  ///< further label values, after those of the classes
  std::vector<PlannedImage> images;
  std::size_t at_once = 1;  ///< images worked on at the same time
  /// skip: if a source turns out bad while it is read, nothing of its image stays, and the others
  /// are stored.
  OnError on_error = OnError::stop;
  Accepted accept;  ///< doubts that are meant
  /// Stores all of images[i], its group's zarr.json last. Called from any thread of the pool.
  std::function<FinishedImage(const std::shared_ptr<storage::Store>&, std::size_t i,
                              const Advance&)>
      ingest;
  /// Writes what lies beside the version and is no part of it, before it is committed. May be empty.
  std::function<void(storage::Store&, const cohort::StoreVersion&)> beside_version;
  /// What a version states about the cohort (StoreVersion::facts); must depend only on the images
  /// and the classes.
  std::function<Json(const std::map<std::string, FinishedImage>&,
                     const std::vector<std::string>& classes)>
      version_facts;
};

struct CohortOutcome {
  std::string dataset_hash;
  std::uint64_t reused = 0;           ///< finished by an earlier, interrupted run
  std::vector<FinishedImage> images;  ///< those of the plan that are stored, in its order
  std::vector<BadInput> left_out;     ///< the others, in its order
};

/// The images of the outcome, by id.
std::set<std::string> ids_of(const CohortOutcome& outcome);

/// Makes a store, or adds images to one as a new version: takes over what an interrupted run
/// finished, removes what it left half-written, stores the missing images, then writes the groups
/// above them, the version, and last the manifest. Earlier versions do not change, also not for
/// processes that read them meanwhile. After a failure whole images stay, so that the same run can
/// continue; when there are none and there was no store, the folder is left empty.
/// errors  usage (another kind or other settings; a stored image came from another file, or has
///         other labels or columns than the inputs give, which `ingest labels` changes), io, those
///         of `ingest`: of the lowest image, for any number of threads; with OnError::skip those of
///         a source only where no image is left
CohortOutcome ingest_cohort(const CohortPlan& plan, ThreadPool& pool);

}  // namespace headrace::ingest
