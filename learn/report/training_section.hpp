#pragma once
#include <string>

#include "learn/report/run_data.hpp"

namespace headrace::report {

/// Curves of loss, learning rate and validation figures over steps, the best step marked.
std::string curves(const RunData& data);
/// The run's wall clock by what it was spent on, and the loader's threads; empty until its end.
std::string time_section(const RunData& data);

}  // namespace headrace::report
