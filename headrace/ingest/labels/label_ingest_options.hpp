#pragma once
#include "headrace/core/work_options.hpp"
#include "headrace/ingest/labels/ingest_labels.hpp"

namespace headrace::ingest {

/// Every option, in the order of the help; bound to `options`.
WorkOptions options_of(LabelIngestOptions& options);

}  // namespace headrace::ingest
