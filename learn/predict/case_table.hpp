#pragma once
#include <filesystem>

#include "learn/predict/trained_run.hpp"

namespace headrace::predict {

/// Writes cases.csv into an output folder of predictions: one line a case, from the findings of all
/// its finished images. Slides: number of slides, areas, share of tumour, and for task grading the
/// grade of their summed areas; volumes: number of studies, lesions, highest score, flag.
/// Errors: io, malformed (a result).
void write_case_table(const std::filesystem::path& folder, const TrainedRun& run);

}  // namespace headrace::predict
