#pragma once
// What tests of DeviceDecoder have in common. Compiled twice: with the host in a GPU's place and
// libraries that stand in for NVIDIA's (everything but the GPU is then shown), and for a GPU, where
// there is one.
#include "headrace/zarr/device_decoder.hpp"
#include "tests/zarr/layouts.hpp"

namespace headrace::zarr::test {

class DeviceDecoding : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!device::cuda::cuda_available()) GTEST_SKIP() << "not run: " << device::cuda::describe();
  }
  // Why a decoder is not there, empty when it is. The tests skip themselves: a skip in a function
  // that they call would only leave that function.
  static const std::string& no_streams() { return GpuDecoders::here().no_streams; }
  static const std::string& no_jpeg() { return GpuDecoders::here().no_jpeg; }

  // A batch of all requests, decoded into poisoned windows that come back.
  std::vector<std::byte> decoded(DeviceDecoder& decoder, const std::shared_ptr<const Array>& array,
                                 const std::vector<Request>& requests, std::uint64_t total) {
    std::vector<std::byte> windows(total, std::byte{0xcd});
    std::vector<std::uint64_t> at;
    batch_.clear();
    decoder.lend_memory(batch_);
    for (const Request& request : requests) {
      batch_.add(array, {request.origin, request.size, nullptr, request.strides, {}});
      at.push_back(request.at);
    }
    batch_.fetch(pool_);
    device::cuda::Stream stream;
    device::cuda::DeviceBuffer out(total);
    copy_to_device(out.as<void>(), windows.data(), total, stream);
    decoder.start(batch_, pool_, at, total, out.as<std::byte>(), stream);
    decoder.finish(batch_);
    copy_to_host(windows.data(), out.as<void>(), total, stream);
    stream.wait();
    return windows;
  }

  static std::vector<std::byte> expected(const Array& array, const std::vector<Request>& requests,
                                         std::uint64_t total) {
    std::vector<std::byte> windows(total, std::byte{0xcd});
    for (const Request& request : requests) {
      array.read({request.origin, request.size, windows.data() + request.at, request.strides, {}});
    }
    return windows;
  }

  // The bytes of the regions alone: the CPU's way also copies what lies between them.
  static void expect_same(const std::vector<std::byte>& a, const std::vector<std::byte>& b,
                          const std::vector<Request>& requests, std::size_t item) {
    for (const Request& request : requests) {
      const auto size = static_cast<std::size_t>(count_of(request.size)) * item;
      ASSERT_EQ(std::memcmp(a.data() + request.at, b.data() + request.at, size), 0)
          << "region at " << request.at;
    }
  }

  ThreadPool pool_{3};
  BatchRead batch_;
};

}  // namespace headrace::zarr::test
