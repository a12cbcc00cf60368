#include "headrace/device/gpu_meter.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace headrace::device {
namespace {

constexpr const char* kFake = HR_FAKE_NVML;

TEST(GpuMeter, WithoutADriverSaysSo) {
  const GpuUsage usage = GpuMeter({}, "libno-such-driver.so.1").usage();
  EXPECT_EQ(usage.samples, 0u);
  EXPECT_TRUE(usage.device.empty());
  EXPECT_EQ(usage.not_measured.rfind("NVML: libno-such-driver.so.1 cannot be loaded", 0), 0u)
      << usage.not_measured;
}

TEST(GpuMeter, MeansAreThoseOfTheSamples) {
  const GpuMeter meter("0000:41:00.0", kFake);
  GpuUsage usage = meter.usage();
  EXPECT_EQ(usage.device, "Fake H200");
  EXPECT_EQ(usage.not_measured, "");
  ASSERT_GE(usage.samples, 1u);
  // Waits for a second sample, however long this machine takes.
  while (usage.samples < 2) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    usage = meter.usage();
  }
  const auto n = static_cast<double>(usage.samples);
  const double high = (usage.samples + 1) / 2, low = usage.samples / 2;
  EXPECT_DOUBLE_EQ(usage.busy_percent, (80 * high + 40 * low) / n);
  EXPECT_DOUBLE_EQ(usage.memory_busy_percent, usage.busy_percent / 4);
  EXPECT_EQ(usage.memory_used_bytes, 600u);
}

TEST(GpuMeter, ErrorsOfNvmlAreTold) {
  EXPECT_EQ(GpuMeter("0000:99:00.0", kFake).usage().not_measured,
            "NVML, finding the GPU: Not Found");
  setenv("FAKE_NVML", "refuse", 1);
  EXPECT_EQ(GpuMeter({}, kFake).usage().not_measured, "NVML, nvmlInit: Driver Not Loaded");
  unsetenv("FAKE_NVML");
}

}  // namespace
}  // namespace headrace::device
