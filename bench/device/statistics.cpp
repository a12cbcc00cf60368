// Prints the table of statistics_table.hpp on a GPU.
#include "bench/device/statistics_table.hpp"

#include <cstdlib>

#include "headrace/device/cuda_device.hpp"

using namespace headrace;

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::max(1, std::atoi(argv[1])) : 9;
  try {
    if (!device::cuda::cuda_available()) {
      fmt::print("not measured: {}\n", device::cuda::describe());
      return 0;
    }
    const auto device = pixels::open_cuda_statistics();
    bench::Table table(*device, repeats);
    table.images(8192);
    table.tissue(3072);
    table.volume(300, 512);
    return table.same() ? 0 : 1;
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return exit_code(error.code());
  }
}
