// The decoding bench as a program of its own.
#include <fmt/format.h>

#include "bench/device/commands.hpp"
#include "headrace/core/error.hpp"

int main(int argc, char** argv) {
  try {
    return headrace::device_bench::decoding(argc, argv);
  } catch (const headrace::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return exit_code(error.code());
  }
}
