#pragma once
#include <string>

#include "learn/report/run_data.hpp"

namespace headrace::report {

/// For slides: tumour against the rest by pixel, slide and case, and the found structures of each
/// class, from `overall.tumour`, `.detection` and `.objects`.
std::string tumour_section(const RunData& data);

}  // namespace headrace::report
