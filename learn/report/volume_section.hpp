#pragma once
#include <string>

#include "learn/report/run_data.hpp"

namespace headrace::report {

// Sections of a run on volumes, from its eval.json.

std::string volume_class_section(const RunData& data);  ///< Dice, surface Dice, HD95 by class
std::string lesion_section(const RunData& data);        ///< FROC; empty where lesions were not
                                                        ///< searched for
}  // namespace headrace::report
