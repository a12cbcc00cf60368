#pragma once

namespace headrace::cli {

/// From here on the library's log goes to standard error, a line each with its level's letter in
/// front, coloured where that is a terminal.
void log_to_standard_error();

}  // namespace headrace::cli
