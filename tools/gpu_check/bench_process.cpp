// Writes a TIFF of EDGE² pixels without compression into FOLDER, if it is not there, and prints the
// table of process on it: load, Sobel, save and the whole, by CPU and GPU.
//   bench_process FOLDER [EDGE]    EDGE: a multiple of 512, 16384 if left out
#include "cli/bench_process.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "headrace/core/error.hpp"
#include "tests/process/large_tiff.hpp"

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_process FOLDER [EDGE]\n");
    return 2;
  }
  try {
    const std::string folder = argv[1];
    std::filesystem::create_directories(folder);
    const std::string slide = folder + "/raw.tif";
    const std::int64_t edge = argc > 2 ? std::atoll(argv[2]) / 512 * 512 : 16384;
    if (!std::filesystem::exists(slide)) headrace::process::write_large_raw_tiff(slide, edge);
    headrace::cli::print_process_table(
        headrace::cli::bench_process(slide, folder + "/out.zarr", 0));
    return 0;
  } catch (const headrace::Error& error) {
    fmt::print(stderr, "bench_process: {}\n", error.what());
    return 1;
  }
}
