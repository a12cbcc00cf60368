// The consumer with the host in a GPU's place: the batch is read, and the time is slept.
#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>

#include "bench/device/consumer.hpp"
#include "tests/device/host_stream.hpp"

namespace headrace::device_bench {

void consume(const void* images, std::size_t size_bytes, double ms, unsigned* sum,
             device::cuda::Stream& stream) {
  stream.get()->put([=] {
    const auto* words = static_cast<const unsigned*>(images);
    for (std::size_t i = 0; i < size_bytes / 4; ++i) *sum ^= words[i];
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
  });
}

}  // namespace headrace::device_bench
