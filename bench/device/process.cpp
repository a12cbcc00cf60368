// Writes a TIFF of EDGE² pixels without compression into FOLDER, if it is not there, and prints the
// table of `headrace bench process` on it: load, Sobel, save and the whole, by CPU and GPU.
//   process FOLDER [EDGE]    EDGE: a multiple of 512, 8192 if left out
#include <cstdlib>
#include <filesystem>

#include "bench/device/commands.hpp"
#include "cli/bench_process.hpp"
#include "headrace/core/error.hpp"
#include "tests/learn/process/large_tiff.hpp"

int headrace::device_bench::processing(int argc, char** argv) {
  if (argc < 2) fail(ErrorCode::usage, "usage: process FOLDER [EDGE]");
  const std::string folder = argv[1], slide = folder + "/raw.tif";
  std::filesystem::create_directories(folder);
  const std::int64_t edge = argc > 2 ? std::atoll(argv[2]) / 512 * 512 : 8192;
  if (!std::filesystem::exists(slide)) process::write_large_raw_tiff(slide, edge);
  cli::print_process_table(slide, folder + "/out.zarr", 0);
  return 0;
}
