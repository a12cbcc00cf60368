// Prints the table of statistics_table.hpp on a GPU.
#include <cstdlib>

#include "bench/device/commands.hpp"
#include "bench/device/statistics_table.hpp"

int headrace::device_bench::statistics(int argc, char** argv) {
  const int repeats = argc > 1 ? std::max(1, std::atoi(argv[1])) : 9;
  const auto device = pixels::open_cuda_statistics();
  bench::Table table(*device, repeats);
  table.images(4096);
  table.tissue(3072);
  table.volume(100, 512);
  return table.same() ? 0 : 1;
}
