#pragma once
#include <chrono>

namespace headrace::cli {

/// From here on the library's long work shows its progress on standard error: a bar on a terminal,
/// elsewhere a plain line every `plain_every`, so that a log shows that the work goes on and how
/// long it will take.
void show_progress_on_standard_error(
    std::chrono::milliseconds plain_every = std::chrono::seconds(30));

}  // namespace headrace::cli
