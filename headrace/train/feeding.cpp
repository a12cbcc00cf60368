#include "headrace/train/feeding.hpp"

#include "headrace/ranks/ordered_all_reduce.hpp"

namespace headrace::train {

using device::DeviceChoice;

loader::RunConfig fed_config(const loader::RunConfig& config, const inference::Network& network,
                             int cores) {
  loader::RunConfig out = config;
  if (out.loader.device == DeviceChoice::automatic) {
    // Both are done on the CPU alone.
    const bool can =
        out.data.outside != loader::Outside::ignore && (!config.volumes || network.channels() == 1);
    out.loader.device = network.on_gpu() && can ? DeviceChoice::cuda : DeviceChoice::cpu;
  }
  if (out.loader.threads == 0) out.loader.threads = cores;
  return out;
}

loader::Share own_share(const loader::RunConfig& config, const ranks::ProcessGroup& process_group) {
  const std::int64_t samples = config.sampling.batch / config.train.gradient_parts;
  const auto parts =
      ranks::parts_of(config.train.gradient_parts, process_group.rank(), process_group.size());
  return {parts.first * samples, parts.count * samples};
}

}  // namespace headrace::train
