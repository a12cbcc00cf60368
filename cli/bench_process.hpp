#pragma once
#include <string>

#include "headrace/core/json.hpp"

namespace headrace::cli {

/// Times the workflow of `process` on one image: loading it into memory, Sobel in memory, saving
/// the result as Zarr in chunks of 256 to 2048, and the whole, in both modes, on one thread and on
/// `threads` (0: every core), by the CPU, a GPU, and a GPU with GPUDirect where there is one (else
/// "cuda" gives the reason). Results are written below `out`, a new folder, and removed. Errors:
/// usage (an existing folder), and those of process.
Json bench_process(const std::string& in, const std::string& out, int threads);

/// The table that people read.
void print_process_table(const Json& result);

}  // namespace headrace::cli
