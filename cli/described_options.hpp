#pragma once
#include "cli/command_line.hpp"
#include "headrace/core/work_options.hpp"

namespace headrace::cli {

/// Adds each option of a description by the library, in its order. The variables that it is bound
/// to must live until the command has run.
void add_options(Command command, const WorkOptions& options);

}  // namespace headrace::cli
