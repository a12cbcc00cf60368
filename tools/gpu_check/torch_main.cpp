// What of the GPU path needs LibTorch, in one program: tests of networks, trainings and evaluations
// on a GPU, and benches of them. It carries no LibTorch: it finds that of the machine's Python in
// the folder `torch` beside it (run.py).
//   gpu_check_torch COMMAND [ARGUMENTS]
//     probe                   says what LibTorch sees; exit status 1 without a GPU
//     tests                   GoogleTest's arguments
//     training, evaluating    benches (bench/device)
// Exit codes: 0 done; 1 failed; 2 usage.
#include <ATen/detail/CUDAHooksInterface.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/version.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "bench/device/commands.hpp"
#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"

namespace {

using Command = std::function<int(int, char**)>;

int probe(int, char**) {
  const int gpus = at::hasCUDA() ? at::detail::getCUDAHooks().deviceCount() : 0;
  fmt::print("LibTorch {} sees {} GPUs; {}\n", TORCH_VERSION, gpus,
             headrace::device::cuda::describe());
  return gpus > 0 && headrace::device::cuda::cuda_available() ? 0 : 1;
}

int tests(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

}  // namespace

int main(int argc, char** argv) {
  // cuBLAS is deterministic only with a fixed workspace; the library refuses to train without.
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  const std::map<std::string, Command> commands{
      {"probe", probe},
      {"tests", tests},
      {"training", headrace::device_bench::training},
      {"evaluating", headrace::device_bench::evaluating},
  };
  const auto found = commands.find(argc > 1 ? argv[1] : "");
  if (found == commands.end()) {
    std::string names;
    for (const auto& [name, command] : commands) names += " " + name;
    fmt::print(stderr, "usage: gpu_check_torch COMMAND [ARGUMENTS]; commands:{}\n", names);
    return 2;
  }
  try {
    return found->second(argc - 1, argv + 1);
  } catch (const headrace::Error& error) {
    fmt::print(stderr, "gpu_check_torch {}: {}\n", argv[1], error.what());
    return exit_code(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "gpu_check_torch {}: {}\n", argv[1], error.what());
    return 1;
  }
}
