#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headrace/ingest/inputs/bad_inputs.hpp"
#include "headrace/ingest/inputs/doubt.hpp"
#include "headrace/ingest/volume/volume_sources.hpp"
#include "learn/predict/slide/slide_facts.hpp"
#include "learn/predict/trained_run.hpp"
#include "learn/predict/volume/operating_point.hpp"

namespace headrace::predict {

struct PredictRequest {
  std::vector<std::string> runs;    ///< run folders; of several, the mean is the prediction
  std::vector<std::string> inputs;  ///< stores, or files and folders that were never ingested
  std::string out;                  ///< folder for the results, new or of the same prediction
  RunOptions run;
  std::vector<std::string> images;  ///< of stores: ids; empty: all
  std::string split;                ///< of stores: only images of this split; empty: any
  std::optional<double> mpp;        ///< for slide files that do not state it
  std::int64_t batch = 0;           ///< tiles the loader makes at once; 0: eval.batch of the run
  bool flips = false;               ///< the mean over mirrored images too
  /// Of files that can't be read, and of images that fail while they are predicted.
  ingest::OnError on_error = ingest::OnError::stop;
  ingest::Accepted accept;              ///< doubts about files that are meant
  ingest::VolumeSourceOptions sources;  ///< what is stated of files of volumes
  FindingOptions slide;
  /// Slides: in place of slide.min_region_mm2; not given: by the training labels
  /// (Preprocessing::least_region_mm2).
  std::optional<double> min_region_mm2;
  double false_positives_per_scan = kFlagFalsePositives;  ///< of the flag of CT
  std::string code_version;
  /// Asked while an image is predicted; true: the call ends as cancelled, nothing of the image
  /// stays, and the same call goes on from there. Empty: never.
  std::function<bool()> stopped;
};

/// One finished image, in the order in which they were predicted.
struct PredictedImage {
  std::string id, folder;
  bool kept = false;  ///< finished by an earlier call
  std::string line;   ///< what was found, in one line
};

struct PredictOutcome {
  std::vector<PredictedImage> images;
  std::vector<ingest::BadInput> left_out;  ///< with on_error skip
};

/// Predicts every image of the inputs into out/<id> (docs/formats.md, "Predictions"), and
/// out/cases.csv over all of them. Files are ingested into out/.work first, so that they go the
/// same way as images of a store, and that is removed at the end. Finished images are kept, so the
/// same call continues after any interruption. The result of an image depends on the runs, their
/// weights and the image alone: not on batch, threads, other images, or whether it came from a file
/// or a store.
/// errors  usage (runs that do not fit together; `out` holds predictions of other weights or
///         something else; an image id that two inputs have, as far as it can be known before the
///         first prediction; an image that has changed since it was predicted; files for a run
///         whose channels these do not tell), cancelled, those of open_trained_run, of ingest, and
///         of reading
PredictOutcome predict(const PredictRequest& request);

}  // namespace headrace::predict
