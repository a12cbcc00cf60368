#include "learn/inference/batch_place.hpp"

#include <gtest/gtest.h>

namespace headrace::inference {
namespace {

using device::DeviceChoice;

loader::LoaderConfig config_of(DeviceChoice device, bool volumes = false) {
  loader::LoaderConfig config;
  config.volumes = volumes;
  config.loader.device = device;
  return config;
}

TEST(BatchPlace, IsTheNetworksUnlessTheConfigSaysOrTheCpuAloneCan) {
  const auto chosen = DeviceChoice::automatic;
  EXPECT_EQ(batches_on(config_of(chosen), {true}), DeviceChoice::cuda);
  EXPECT_EQ(batches_on(config_of(chosen), {false}), DeviceChoice::cpu);
  EXPECT_EQ(batches_on(config_of(DeviceChoice::cpu), {true}), DeviceChoice::cpu);
  EXPECT_EQ(batches_on(config_of(DeviceChoice::cuda), {false}), DeviceChoice::cuda);
  EXPECT_EQ(batches_on(config_of(chosen, true), {true, 1}), DeviceChoice::cuda);
  EXPECT_EQ(batches_on(config_of(chosen, true), {true, 2}), DeviceChoice::cpu);
  EXPECT_EQ(batches_on(config_of(chosen), {true, 3, false}), DeviceChoice::cpu);
  auto outside = config_of(chosen);
  outside.data.outside = loader::Outside::ignore;
  EXPECT_EQ(batches_on(outside, {true}), DeviceChoice::cpu);
}

/// Whatever training asks for, tiles have the bytes that the CPU gives.
TEST(BatchPlace, TilesThereAreFloatsWithTheBytesOfTheCpu) {
  auto config = config_of(DeviceChoice::automatic);
  config.loader.element = loader::ElementChoice::bfloat16;
  config.loader.layout = loader::LayoutChoice::channels_last;
  config.loader.decode = zarr::DecodeOn::gpu;
  config.loader.gpudirect = storage::GpuDirect::on;
  for (const bool on_gpu : {true, false}) {
    const auto tiles = where_the_model_is(config, {on_gpu});
    EXPECT_EQ(tiles.loader.device, on_gpu ? DeviceChoice::cuda : DeviceChoice::cpu);
    EXPECT_EQ(tiles.loader.element, loader::ElementChoice::float32);
    EXPECT_EQ(tiles.loader.layout, loader::LayoutChoice::channels_first);
    EXPECT_EQ(tiles.loader.decode, on_gpu ? zarr::DecodeOn::automatic : zarr::DecodeOn::cpu);
    EXPECT_EQ(tiles.loader.gpudirect,
              on_gpu ? storage::GpuDirect::automatic : storage::GpuDirect::off);
  }
}

}  // namespace
}  // namespace headrace::inference
