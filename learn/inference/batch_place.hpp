#pragma once
#include <cstdint>

#include "headrace/device/device_choice.hpp"
#include "headrace/loader/config/loader_config.hpp"

namespace headrace::inference {

/// What decides where the batches for a network are made, besides loader.device.
struct BatchPlace {
  bool on_gpu = false;        ///< the network, on one that the loader can use (Network::on_gpu)
  std::int64_t channels = 3;  ///< Network::channels
  bool keeps_labels = true;   ///< the store's label values are the run's
};

/// Where batches are made: loader.device, and for auto the network's GPU, but for what is done on
/// the CPU alone (data.outside: ignore, volumes of several channels, labels matched by name).
device::DeviceChoice batches_on(const loader::LoaderConfig& config, const BatchPlace& place);

/// The config of a loader of tiles for a network that blends them where it is: batches are made
/// where those of its training are, in float32, channels first. Only what gives the CPU's bytes is
/// done on the GPU (loader.decode: gpu counts as auto), so that no figure depends on where it was.
loader::LoaderConfig where_the_model_is(const loader::LoaderConfig& config,
                                        const BatchPlace& place);

/// The config of a loader of tiles that are blended on the host.
loader::LoaderConfig on_the_host(const loader::LoaderConfig& config);

}  // namespace headrace::inference
