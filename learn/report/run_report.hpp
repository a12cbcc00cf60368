#pragma once
#include <filesystem>
#include <string>

namespace headrace::report {

/// The report of a run as one HTML file that needs no network: identity, curves, figures by class,
/// cohort and scanner, grades, patches, and where the time went. Made only from the run folder's
/// files; parts that do not exist yet are left out.
/// errors  not_found (no config.json or run.json), malformed (a damaged file)
std::string render_run(const std::filesystem::path& run);

}  // namespace headrace::report
