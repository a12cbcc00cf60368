#include "learn/train/feeding.hpp"

#include "learn/inference/batch_place.hpp"
#include "learn/ranks/ordered_all_reduce.hpp"

namespace headrace::train {

loader::LoaderConfig fed_config(const config::RunConfig& config, const inference::Network& network,
                                int cores) {
  loader::LoaderConfig out = config;
  out.loader.device = inference::batches_on(config, {network.on_gpu(), network.channels()});
  if (out.loader.threads == 0) out.loader.threads = cores;
  return out;
}

loader::Share own_share(const config::RunConfig& config, const ranks::ProcessGroup& process_group) {
  const std::int64_t samples = config.sampling.batch / config.train.gradient_parts;
  const auto parts =
      ranks::parts_of(config.train.gradient_parts, process_group.rank(), process_group.size());
  return {parts.first * samples, parts.count * samples};
}

}  // namespace headrace::train
