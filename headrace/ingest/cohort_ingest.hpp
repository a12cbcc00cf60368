#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "headrace/core/threads.hpp"
#include "headrace/ingest/finished_image.hpp"
#include "headrace/storage/store.hpp"

namespace headrace::ingest {

/// An input that was looked at, but not read yet.
struct PlannedImage {
  std::string id;
  std::string fingerprint;  ///< of the source, its labels and what the table says of it
  std::string named;        ///< the word in front of an error about it
  std::uint64_t pixel_bytes = 0;
};

/// Told the bytes of pixels of each part that is done. Safe from any thread.
using Advance = std::function<void(std::uint64_t)>;

/// What a run is to store, whatever the kind of image.
struct CohortPlan {
  CohortKind kind;
  std::string out;  ///< the store's folder
  Json settings;    ///< what decides about the bytes of a store besides its inputs
  std::vector<PlannedImage> images;
  std::size_t at_once = 1;  ///< images worked on at the same time
  /// Stores everything of images[i], its group's zarr.json last. From any thread of the pool.
  std::function<FinishedImage(const std::shared_ptr<storage::Store>&, std::size_t i,
                              const Advance&)>
      ingest;
  /// What attributes.headrace of the root group says besides format, kind and settings; must not
  /// depend on anything but the images.
  std::function<Json(const std::map<std::string, FinishedImage>&)> root_facts;
};

struct CohortOutcome {
  std::string dataset_hash;
  std::uint64_t reused = 0;           ///< finished by an earlier, interrupted run
  std::vector<FinishedImage> images;  ///< those of the plan, in its order
};

/// Makes or completes a store: takes over what an interrupted run finished, removes what it left
/// half-written, stores the missing images, writes the groups above them and the manifest, last.
/// After a failure whole images stay, so that the same run again goes on; when there is none, the
/// folder is left empty.
/// errors  usage (another kind or other settings; a stored image came from something else), io,
///         those of `ingest`: of the lowest image, for any number of threads
CohortOutcome ingest_cohort(const CohortPlan& plan, ThreadPool& pool);

}  // namespace headrace::ingest
