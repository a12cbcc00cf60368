#pragma once
#include <filesystem>
#include <string>

namespace headrace::report {

/// The page of a folder of folds, from its folds.json: the pooled figures, by cohort, their spread over
/// folds, and a link by name to each fold's own report. One HTML file, as run_report.hpp.
/// Errors: not_found (no folds.json: not all folds are finished), malformed.
std::string render_folds(const std::filesystem::path& folds);

}  // namespace headrace::report
