#include <charconv>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "headrace/core/error.hpp"
#include "headrace/core/log.hpp"
#include "headrace/device/cuda_device.hpp"

namespace headrace::device::cuda {

namespace {

/// count_gpus: called only where a launcher has set a number.
template <typename Count>
int choose(const Count& count_gpus) {
  for (const char* variable : {"LOCAL_RANK", "SLURM_LOCALID"}) {
    const char* number = std::getenv(variable);
    if (number == nullptr || *number == 0) continue;
    int index = -1;
    const char* end = number + std::strlen(number);
    const auto [rest, error] = std::from_chars(number, end, index);
    if (error != std::errc() || rest != end || index < 0) {
      fail(ErrorCode::usage, "{} is '{}': expected the number of a GPU, from 0 on", variable,
           number);
    }
    const int count = count_gpus();
    if (index < count) return index;
    if (count != 1) {
      fail(
          ErrorCode::usage,
          "{} is {}, but this process sees {} GPUs, 0 to {}. Start one process a GPU, or show each "
          "process its own alone (by Slurm, or by CUDA_VISIBLE_DEVICES)",
          variable, index, count, count - 1);
    }
    static std::once_flag told;
    std::call_once(told, [&] {
      log::info("{} is {}, and this process sees one GPU: it takes that one", variable, index);
    });
    return 0;
  }
  return 0;
}

}  // namespace

int process_device() { return choose(device_count); }
int process_device_of(int count) {
  return choose([count] { return count; });
}

}  // namespace headrace::device::cuda
