#pragma once
// The ways of making batches that the benches of feeding compare.
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/loader/config/loader_config.hpp"

namespace headrace::device_bench {

struct Way {
  const char* name;
  device::DeviceChoice device;
  zarr::DecodeOn decode;
  storage::GpuDirect gpudirect;
};

/// Those of a GPU; without one, that of the CPU.
inline std::vector<Way> ways(bool gpu) {
  using device::DeviceChoice;
  using storage::GpuDirect;
  using zarr::DecodeOn;
  if (!gpu) return {{"the CPU", DeviceChoice::cpu, DecodeOn::automatic, GpuDirect::off}};
  return {
      {"cuda, decoded on the CPU", DeviceChoice::cuda, DecodeOn::cpu, GpuDirect::off},
      {"cuda, decoded on the GPU", DeviceChoice::cuda, DecodeOn::gpu, GpuDirect::off},
      {"cuda, decoded on the GPU, GPUDirect", DeviceChoice::cuda, DecodeOn::gpu, GpuDirect::on}};
}

inline loader::LoaderConfig with(const Way& way, loader::LoaderConfig config) {
  config.loader.device = way.device;
  config.loader.decode = way.decode;
  config.loader.gpudirect = way.gpudirect;
  return config;
}

/// Whether this machine or the store lacks what the way needs. A file system that cuFile does not
/// read from is the device's error.
inline bool is_lacking(const Way& way, const Error& error) {
  const bool direct = way.gpudirect == storage::GpuDirect::on;
  return error.code() == ErrorCode::unsupported || (direct && error.code() == ErrorCode::device);
}

}  // namespace headrace::device_bench
