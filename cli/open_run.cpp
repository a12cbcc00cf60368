#include "cli/open_run.hpp"

#include "learn/config/run_config.hpp"

namespace headrace::cli {

RunInputs open_run(const std::string& config, const std::string& split, int threads,
                   std::optional<device::DeviceChoice> device, const std::string& run,
                   const loader::ListedPatches& listed) {
  config::RunConfig read = config::RunConfig::load(config);
  if (threads >= 0) read.loader.threads = threads;
  if (device) read.loader.device = *device;
  return {loader::open_run(read, split, run, listed), read.hash()};
}

}  // namespace headrace::cli
