#pragma once
#include <string_view>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/ingest/labels/ingest_labels.hpp"
#include "headrace/ingest/slide/ingest_slides.hpp"
#include "headrace/ingest/volume/ingest_volumes.hpp"

namespace headrace::ingest {

// What an ingest did, as other programs read it: `headrace ingest … --json`, the Python package.
// Sizes are in bytes, speeds in MB (10^6 bytes) a second of pixels stored now; `device` is what
// gathered the statistics, "cpu" or "cuda".

Json report_of(const SlideIngestResult& result, std::string_view device);
Json report_of(const VolumeIngestResult& result, std::string_view device);
Json report_of(const LabelIngestResult& result);
/// The inputs that were left out, each with the reason.
Json report_of(const std::vector<BadInput>& left_out);

}  // namespace headrace::ingest
