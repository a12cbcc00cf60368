#include "learn/inference/batch_place.hpp"

namespace headrace::inference {

using device::DeviceChoice;

device::DeviceChoice batches_on(const loader::LoaderConfig& config, const BatchPlace& place) {
  if (config.loader.device != DeviceChoice::automatic) return config.loader.device;
  const bool can = config.data.outside != loader::Outside::ignore && place.keeps_labels &&
                   (!config.volumes || place.channels == 1);
  return place.on_gpu && can ? DeviceChoice::cuda : DeviceChoice::cpu;
}

loader::LoaderConfig where_the_model_is(const loader::LoaderConfig& config,
                                        const BatchPlace& place) {
  if (!place.on_gpu || batches_on(config, place) == DeviceChoice::cpu) return on_the_host(config);
  loader::LoaderConfig out = config;
  out.loader.device = DeviceChoice::cuda;
  out.loader.element = loader::ElementChoice::float32;
  out.loader.layout = loader::LayoutChoice::channels_first;
  if (out.loader.decode == zarr::DecodeOn::gpu) out.loader.decode = zarr::DecodeOn::automatic;
  if (out.loader.gpudirect == storage::GpuDirect::on)
    out.loader.gpudirect = storage::GpuDirect::automatic;
  return out;
}

loader::LoaderConfig on_the_host(const loader::LoaderConfig& config) {
  loader::LoaderConfig on_host = config;
  on_host.loader.device = DeviceChoice::cpu;
  on_host.loader.element = loader::ElementChoice::float32;
  on_host.loader.layout = loader::LayoutChoice::channels_first;
  on_host.loader.decode = zarr::DecodeOn::cpu;
  on_host.loader.gpudirect = storage::GpuDirect::off;
  return on_host;
}

}  // namespace headrace::inference
