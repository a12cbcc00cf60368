#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// Passes over any number of items whose results are added into counters and sums. Many pixels fall
/// into few bins (glass, air), so lanes of a warp with the same bin add once, and a block's
/// counters lie in shared memory until it is done. All additions are of integers, so their order
/// has no effect. No header of CUDA is included here (nvcc includes its own), so that a test can
/// run these kernels with emulated warps.
namespace headrace::device::cuda {

inline constexpr unsigned kEveryLane = 0xffffffffu;

inline __device__ void add_to(std::uint64_t* to, std::uint64_t value) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
}
inline __device__ bool is_first_of(unsigned lanes) {
  return static_cast<int>(threadIdx.x % 32) == __ffs(static_cast<int>(lanes)) - 1;
}

/// Calls body(item, element, inside) so that the lanes of a warp stay together: `inside` is false
/// for those that have no element left.
template <typename Body>
__device__ void each_together(std::int64_t items, std::int32_t elements, const Body& body) {
  for (std::int64_t item = blockIdx.y; item < items; item += gridDim.y) {
    for (std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x; first < elements;
         first += std::int64_t{gridDim.x} * blockDim.x) {
      const std::int64_t element = first + threadIdx.x;
      body(item, static_cast<std::int32_t>(element), element < elements);
    }
  }
}

template <typename Kernel>
__global__ void do_each(const __grid_constant__ Kernel kernel) {
  each_together(kernel.items(), kernel.elements(),
                [&kernel](std::int64_t item, std::int32_t element, bool inside) {
                  if (inside) kernel(item, element);
                });
}

/// kernel.bin(item, element) names the counter of kernel.counts that 1 is added to, or -1. A block
/// counts fewer than 2³² of them, and a launch 2,048 times as many.
template <typename Kernel>
__global__ void count_each(const __grid_constant__ Kernel kernel) {
  __shared__ unsigned near[Kernel::kNear];
  for (std::int32_t i = threadIdx.x; i < Kernel::kNear; i += blockDim.x) near[i] = 0;
  __syncthreads();
  each_together(kernel.items(), kernel.elements(),
                [&kernel](std::int64_t item, std::int32_t element, bool inside) {
                  const std::int32_t bin = inside ? kernel.bin(item, element) : -1;
                  const unsigned same = __match_any_sync(kEveryLane, bin);
                  if (bin < 0 || !is_first_of(same)) return;
                  const auto lanes = static_cast<unsigned>(__popc(same));
                  const auto place = static_cast<unsigned>(bin - Kernel::kNearFirst);
                  if (place < static_cast<unsigned>(Kernel::kNear)) {
                    atomicAdd(near + place, lanes);
                  } else {
                    add_to(kernel.counts + bin, lanes);
                  }
                });
  __syncthreads();
  for (std::int32_t i = threadIdx.x; i < Kernel::kNear; i += blockDim.x) {
    if (near[i] != 0) add_to(kernel.counts + Kernel::kNearFirst + i, near[i]);
  }
}

/// kernel.sample(item, element) has a bin and some values: 1 and the values are added at the bin's
/// place, which lies after the kSums sums of kernel.totals. kernel.add() adds the sample to those
/// sums. The kernel lies in shared memory: its tables are indexed by what a pixel holds.
template <typename Kernel>
__global__ void sum_each(const __grid_constant__ Kernel parameter) {
  static_assert(std::is_trivially_copyable_v<Kernel> && sizeof(Kernel) % 4 == 0);
  alignas(16) __shared__ std::uint32_t words[sizeof(Kernel) / 4];
  for (std::size_t i = threadIdx.x; i < sizeof(Kernel) / 4; i += blockDim.x) {
    words[i] = reinterpret_cast<const std::uint32_t*>(&parameter)[i];
  }
  __syncthreads();
  const Kernel& kernel = *reinterpret_cast<const Kernel*>(words);
  std::uint64_t sums[Kernel::kSums] = {};
  each_together(kernel.items(), kernel.elements(),
                [&kernel, &sums](std::int64_t item, std::int32_t element, bool inside) {
                  decltype(kernel.sample(item, element)) sample{-1, {}};
                  if (inside) sample = kernel.sample(item, element);
                  const unsigned same = __match_any_sync(kEveryLane, sample.bin);
                  if (sample.bin < 0) return;
                  Kernel::add(sample, sums);
                  std::uint64_t* place = kernel.totals + Kernel::kSums +
                                         (Kernel::kValues + 1) * std::int64_t{sample.bin};
                  const bool adds = is_first_of(same);
                  if (adds) add_to(place, static_cast<std::uint64_t>(__popc(same)));
                  for (std::int32_t v = 0; v < Kernel::kValues; ++v) {
                    const unsigned sum = __reduce_add_sync(same, sample.value[v]);
                    if (adds) add_to(place + 1 + v, sum);
                  }
                });
  for (std::int32_t k = 0; k < Kernel::kSums; ++k) {
    std::uint64_t sum = sums[k];
    for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(kEveryLane, sum, half);
    if (threadIdx.x % 32 == 0 && sum != 0) add_to(kernel.totals + k, sum);
  }
}

}  // namespace headrace::device::cuda
