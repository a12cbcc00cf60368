// Ingest with its statistics on a device, with the host in a GPU's place: a queue that does nothing
// before it is waited for.
#include "tests/ingest/device_statistics_cases.hpp"

#include "headrace/core/error.hpp"
#include "tests/pixels/host_statistics.hpp"

namespace headrace::ingest {
namespace {

using pixels::fixtures::HostStatistics;

TEST(DeviceStatistics, TissueIsTheCpus) {
  HostStatistics device;
  expect_tissue_of_the_cpu(device);
  EXPECT_GT(device.passes(), 100);
  EXPECT_EQ(device.held_device_bytes(), 0u);
}

TEST(DeviceStatistics, BodiesAndHistogramsAreTheCpus) {
  HostStatistics device;
  expect_volumes_of_the_cpu(device);
  EXPECT_EQ(device.held_device_bytes(), 0u);
}

TEST(DeviceStatistics, ASlidesStoreIsTheCpus) {
  HostStatistics device;
  expect_slide_stores_of_the_cpu(device);
  EXPECT_GT(device.passes(), 50);
}

TEST(DeviceStatistics, AVolumesStoreIsTheCpus) {
  HostStatistics device;
  expect_volume_stores_of_the_cpu(device);
  EXPECT_GE(device.passes(), 2 * 7);
}

/// Of slabs, not of the volume: several of them share a workspace's memory.
TEST(DeviceStatistics, MemoryDoesNotGrowWithTheVolume) {
  const auto peak = [](std::int64_t depth) {
    const std::array<std::int64_t, 3> shape{depth, 2048, 2048};
    std::vector<std::int16_t> hu(static_cast<std::size_t>(depth * shape[1] * shape[2]), -1000);
    HostStatistics device;
    pixels::StatisticsWorkspaces workspaces(device, 1);
    ThreadPool pool(2);
    DeviceVolume volume(hu.data(), shape, workspaces, pool);
    volume.eroded(0, 0);
    return device.peak_device_bytes();
  };
  EXPECT_EQ(peak(2), peak(5));
  EXPECT_LT(peak(5), std::size_t{20} << 20);
}

TEST(DeviceStatistics, AFailureOfTheDeviceLeavesNoStoreAndNobodyWaiting) {
  const fixtures::TemporaryFolder folder;
  SlideIngestOptions options;
  options.inputs = {kSamples + "nuclei/images/dsb_00ae65c1c663.png"};
  options.out = folder.path("a.zarr");
  HostStatistics device;
  device.fail_after_waits(6);
  options.device = &device;
  try {
    ingest_slides(options);
    ADD_FAILURE() << "nothing failed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device) << error.what();
    EXPECT_NE(std::string(error.what()).find("CUDA: a kernel failed"), std::string::npos);
  }
  EXPECT_TRUE(!std::filesystem::exists(options.out) || std::filesystem::is_empty(options.out));
  EXPECT_EQ(device.held_device_bytes(), 0u);
  HostStatistics small(std::size_t{1} << 16);
  options.device = &small;
  EXPECT_THROW(ingest_slides(options), Error);
}

}  // namespace
}  // namespace headrace::ingest
