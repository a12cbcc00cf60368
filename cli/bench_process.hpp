#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headrace/core/json.hpp"

namespace headrace::cli {

/// Hears of the measurements as they end.
struct ProcessListener {
  std::function<void(std::int64_t height, std::int64_t width)> image;
  std::function<void(const std::vector<Json>& runs)> row;  ///< runs that differ only in their chunk
};

/// Times the workflow of `process` on one image: loading it into memory, Sobel in memory, saving
/// the result as Zarr in chunks of 256 to 2048, and the whole, in both modes, on one thread and on
/// `threads` (0: every core), by the CPU, a GPU, and a GPU with GPUDirect where there is one (else
/// "cuda" gives the reason). Results are written below `out`, a new folder, and removed. Errors:
/// usage (an existing folder), and those of process.
Json bench_process(const std::string& in, const std::string& out, int threads,
                   const ProcessListener& listener = {});

/// The same, and prints the table that people read, each row as it ends: what is cut off leaves the
/// rows before.
void print_process_table(const std::string& in, const std::string& out, int threads);

}  // namespace headrace::cli
