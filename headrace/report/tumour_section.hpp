#pragma once
#include <string>

#include "headrace/report/run_data.hpp"

namespace headrace::report {

/// Of slides: tumour against not-tumour by pixel, slide and case, and the structures of each class
/// that were found, from `overall.tumour`, `.detection` and `.objects`.
std::string tumour_section(const RunData& data);

}  // namespace headrace::report
