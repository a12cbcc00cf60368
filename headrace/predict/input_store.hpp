#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/ingest/inputs/bad_inputs.hpp"
#include "headrace/predict/trained_run.hpp"

namespace headrace::predict {

/// Images to be predicted that lie in one open store.
struct InputStore {
  std::shared_ptr<const cohort::Cohort> cohort;  ///< with the run's classes
  std::vector<std::uint32_t> images;             ///< rising
  std::vector<std::string> sources;              ///< of each image: what the user named
};

/// Whether an input is a store, not a file or folder to be ingested.
bool is_store(const std::string& input);

struct InputChoice {
  std::vector<std::string> images;  ///< ids; empty: all
  std::string split;                ///< empty: any
  std::optional<double> mpp;
  ingest::OnError on_error = ingest::OnError::stop;
  int jobs = 0;          ///< threads of an ingest; 0: every core
  std::string key_file;  ///< of volumes: the key of pseudonyms
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

}  // namespace headrace::predict
