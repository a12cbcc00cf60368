#pragma once
#include <string>

#include "learn/report/run_data.hpp"

namespace headrace::report {

/// One row for each image, worst first, folded; at most kImagesShown.
std::string image_section(const RunData& data);
std::string volume_image_section(const RunData& data);

}  // namespace headrace::report
