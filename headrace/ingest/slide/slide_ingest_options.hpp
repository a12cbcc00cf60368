#pragma once
#include "headrace/core/work_options.hpp"
#include "headrace/ingest/slide/ingest_slides.hpp"

namespace headrace::ingest {

/// Every option, in the order of the help; bound to `options`. Without what only a caller has (the
/// device).
WorkOptions options_of(SlideIngestOptions& options);

}  // namespace headrace::ingest
