#include <fmt/format.h>

#include "headrace/loader/config/loader_config_parts.hpp"

namespace headrace::loader::detail {

using device::DeviceChoice;
using storage::GpuDirect;
using zarr::DecodeOn;

Fields loader_fields(LoaderConfig& config) {
  LoaderConfig::Loader& loader = config.loader;
  return {
      Field{"threads", form::number(loader.threads, 0, 1024), "CPU threads; 0: every core"}
          .decides_nothing(),
      Field{"prefetch", form::number(loader.prefetch, 1, 1024), "batches made ahead"}
          .decides_nothing(),
      {"device", form::choice(loader.device), "where batches are made"},
      Field{"element", form::choice(loader.element),
            "of a batch; auto: float32 from a CPU, bfloat16 from a GPU"}
          .hashed_if(loader.element != ElementChoice::automatic),
      Field{"layout", form::choice(loader.layout),
            "of a batch; auto: channels_first from a CPU, channels_last from a GPU"}
          .hashed_if(loader.layout != LayoutChoice::automatic),
      Field{"device_memory_mib", form::number(loader.device_memory_mib, 0, 1'000'000'000),
            "of the GPU, for batches, taken at the start; 0: at most half of the free memory"}
          .decides_nothing(),
      // JPEG decoders differ.
      Field{"decode", form::choice(loader.decode), "what decodes chunks for batches made on a GPU"}
          .hashed_if(loader.decode == DecodeOn::gpu),
      Field{"gpudirect", form::choice(loader.gpudirect), "reads chunks straight into the GPU"}
          .decides_nothing(),
  };
}

void read_loader(YamlMap map, LoaderConfig& config) {
  read_fields(map, loader_fields(config));
  const LoaderConfig::Loader& loader = config.loader;
  if (loader.device == DeviceChoice::cpu && loader.decode == DecodeOn::gpu)
    map.find("decode")->reject("'gpu' is for batches made on a GPU, but loader.device is cpu");
  if (loader.gpudirect == GpuDirect::on &&
      (loader.device == DeviceChoice::cpu || loader.decode == DecodeOn::cpu)) {
    map.find("gpudirect")
        ->reject(fmt::format("'on' is for batches decoded on a GPU, but loader.{} is cpu",
                             loader.device == DeviceChoice::cpu ? "device" : "decode"));
  }
  map.finish();
}

}  // namespace headrace::loader::detail
