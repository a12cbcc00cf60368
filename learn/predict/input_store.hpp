#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/ingest/inputs/bad_inputs.hpp"
#include "headrace/ingest/inputs/doubt.hpp"
#include "headrace/ingest/volume/volume_sources.hpp"
#include "learn/predict/trained_run.hpp"

namespace headrace::predict {

/// Images to be predicted that lie in one open store.
struct InputStore {
  std::shared_ptr<const cohort::Cohort> cohort;  ///< with the run's classes
  std::vector<std::uint32_t> images;             ///< rising
  std::vector<std::string> sources;              ///< of each image: what the user named

  const std::string& id(std::size_t i) const { return cohort->images()[images[i]].id; }
  /// Hashes of the pixels with their metadata, by id. Errors: those of StoreVersion::load.
  std::map<std::string, std::string> contents() const;
};

struct InputChoice {
  std::vector<std::string> images;  ///< ids; empty: all
  std::string split;                ///< empty: any
  std::optional<double> mpp;
  ingest::OnError on_error = ingest::OnError::stop;
  ingest::Accepted accept;              ///< doubts that are meant
  ingest::VolumeSourceOptions sources;  ///< what is stated of files of volumes
  int jobs = 0;                         ///< threads of an ingest; 0: every core
  std::string key_file;                 ///< of volumes: the key of pseudonyms
};

/// Opens stores. Errors: usage (a store of the other kind; an id or split that none of them has),
/// not_found, those of Cohort::open.
std::vector<InputStore> open_stores(const std::vector<std::string>& stores,
                                    const InputChoice& choice, const TrainedRun& run);

/// Ingests files and folders, without labels, into the new store `store`, or continues where an
/// interrupted call stopped, and opens it.
/// out     left_out  files that can't be predicted, with on_error skip
/// errors  those of ingest
InputStore ingest_inputs(const std::vector<std::string>& files, const InputChoice& choice,
                         const TrainedRun& run, const std::string& store,
                         std::vector<ingest::BadInput>& left_out);

/// The input that an ingested image came from: the file whose name begins with its id (the first by
/// name where there are several, such as channels), else the folder of all.
std::string source_of(const std::string& id, const std::vector<std::string>& files);

/// The images that ingest_inputs would give, their sources by id, by the files' names and headers
/// alone; none where the inputs can't be read, which ingest_inputs tells. Pseudonyms are comparable
/// from call to call only with a key.
std::map<std::string, std::string> sources_by_id(const std::vector<std::string>& files,
                                                 const InputChoice& choice, const TrainedRun& run,
                                                 const std::string& store);

}  // namespace headrace::predict
