#include "tests/device/slow_consumer.hpp"

#include "headrace/device/cuda/for_each.cuh"

namespace headrace::device::cuda::fixtures {
namespace {

__device__ std::uint64_t now() {
  std::uint64_t nanoseconds = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  return nanoseconds;
}

struct Fill {
  std::uint32_t* words;
  std::uint32_t value;
  __device__ void operator()(std::int64_t i) const { words[i] = value; }
};
struct Spin {
  std::uint64_t nanoseconds;
  __device__ void operator()(std::int64_t) const {
    const std::uint64_t begin = now();
    while (now() - begin < nanoseconds) {
    }
  }
};
struct CountOthers {
  const std::uint32_t* words;
  std::uint32_t value;
  unsigned* wrong;
  __device__ void operator()(std::int64_t i) const {
    if (words[i] != value) atomicAdd(wrong, 1u);
  }
};

}  // namespace

void fill(std::uint32_t* words, std::int64_t count, std::uint32_t value, Stream& stream) {
  for_each(stream, count, Fill{words, value}, "fill");
}
void spin(std::uint64_t nanoseconds, Stream& stream) {
  for_each(stream, 1, Spin{nanoseconds}, "spin");
}
void count_others(const std::uint32_t* words, std::int64_t count, std::uint32_t value,
                  unsigned* wrong, Stream& stream) {
  for_each(stream, count, CountOthers{words, value, wrong}, "count others");
}

}  // namespace headrace::device::cuda::fixtures
