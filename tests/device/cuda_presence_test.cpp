// What a program sees of CUDA that is not there: it starts, is told, and is refused in one
// sentence.
#include <gtest/gtest.h>

#include "headrace/core/error.hpp"
#include "headrace/device/cuda_device.hpp"
#include "tests/core/error_of.hpp"

namespace headrace::device::cuda {
namespace {

#if HR_CUDA
TEST(CudaPresence, AProgramWithoutAGpuStartsAndSaysSo) {
  if (cuda_available()) GTEST_SKIP() << "not run: there is a GPU, " << describe();
  EXPECT_EQ(describe().rfind("no GPU: ", 0), 0u) << describe();
  EXPECT_GT(describe().size(), std::string("no GPU: ").size());
}

TEST(CudaPresence, AFailureNamesTheCallAndItsPlace) {
  if (cuda_available()) GTEST_SKIP() << "not run: there is a GPU, " << describe();
  const std::string text = error_of(ErrorCode::device, [] { DeviceBuffer buffer(16); });
  EXPECT_NE(text.find("cudaMalloc(&data"), text.npos) << text;
  EXPECT_NE(text.find("headrace/device/cuda/device.cpp:"), text.npos) << text;
  EXPECT_NE(error_of(ErrorCode::device, [] { Stream stream; }).find("cudaStreamCreate"), text.npos);
  EXPECT_NE(error_of(ErrorCode::device, [] { PinnedBuffer b(16); }).find("cudaMallocHost"),
            text.npos);
}
#else
constexpr const char* kAbsent = "this build has no CUDA; configure with -DHR_WITH_CUDA=ON";

TEST(CudaPresence, ABuildWithoutCudaSaysHowToHaveIt) {
  EXPECT_FALSE(cuda_available());
  EXPECT_EQ(describe(), kAbsent);
  EXPECT_EQ(error_of(ErrorCode::unsupported, [] { DeviceBuffer buffer(16); }), kAbsent);
  EXPECT_EQ(error_of(ErrorCode::unsupported, [] { PinnedBuffer buffer(16); }), kAbsent);
  EXPECT_EQ(error_of(ErrorCode::unsupported, [] { Stream stream; }), kAbsent);
  EXPECT_EQ(error_of(ErrorCode::unsupported, [] { Event event; }), kAbsent);
}
#endif

TEST(CudaPresence, EmptyMemoryIsMovedAndAskedForWithoutCuda) {
  DeviceBuffer empty, other = std::move(empty);
  other.reserve(0);
  EXPECT_EQ(other.size(), 0u);
  EXPECT_EQ(other.as<char>(), nullptr);
}

}  // namespace
}  // namespace headrace::device::cuda
