#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace headrace::report {

/// Several runs on one page: curves over each other, figures side by side with intervals by group,
/// config keys that differ, and what each was judged on.
/// errors  usage (fewer than two runs), those of render_run
std::string render_comparison(const std::vector<std::filesystem::path>& runs);

}  // namespace headrace::report
