// The tests and benches of the GPU path in one program, so that one file is carried to a machine
// with a GPU.
//   gpu_check COMMAND [ARGUMENTS]
//     probe        says which GPU there is; exit status 1 without one
//     tests        GoogleTest's arguments; tests that need a GPU are skipped without one
//     transforms, volumes, feeding, decoding, direct, process, statistics    benches (bench/device)
// Exit codes: 0 done, or there is no GPU for a bench; 1 failed; 2 usage.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "bench/device/commands.hpp"
#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"

namespace {

using headrace::device::cuda::cuda_available;
using headrace::device::cuda::describe;
namespace device_bench = headrace::device_bench;
using Command = std::function<int(int, char**)>;

int probe(int, char**) {
  fmt::print("{}\n", describe());
  return cuda_available() ? 0 : 1;
}

int tests(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

/// A bench that has no half for the CPU.
Command on_gpu(Command command) {
  return [command = std::move(command)](int argc, char** argv) {
    if (cuda_available()) return command(argc, argv);
    fmt::print("not measured: {}\n", describe());
    return 0;
  };
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, Command> commands{
      {"probe", probe},
      {"tests", tests},
      {"transforms", on_gpu(device_bench::transforms)},
      {"volumes", on_gpu(device_bench::volumes)},
      {"feeding", device_bench::feeding},
      {"decoding", on_gpu(device_bench::decoding)},
      {"direct", on_gpu(device_bench::direct_reads)},
      {"process", device_bench::processing},
      {"statistics", on_gpu(device_bench::statistics)},
  };
  const auto found = commands.find(argc > 1 ? argv[1] : "");
  if (found == commands.end()) {
    std::string names;
    for (const auto& [name, command] : commands) names += " " + name;
    fmt::print(stderr, "usage: gpu_check COMMAND [ARGUMENTS]; commands:{}\n", names);
    return 2;
  }
  try {
    return found->second(argc - 1, argv + 1);
  } catch (const headrace::Error& error) {
    fmt::print(stderr, "gpu_check {}: {}\n", argv[1], error.what());
    return exit_code(error.code());
  }
}
