#pragma once
#include <string>

#include "headrace/core/work_options.hpp"
#include "headrace/ingest/volume/ingest_volumes.hpp"

namespace headrace::ingest {

/// Every option, in the order of the help; bound to `options`. Without what only a caller has (the
/// device, without_labels, names_by_files).
WorkOptions options_of(VolumeIngestOptions& options);

/// Those of them that state how files of CT and PET are read, which `predict` has, too.
WorkOptions source_options_of(VolumeSourceOptions& options, const std::string& group);

}  // namespace headrace::ingest
