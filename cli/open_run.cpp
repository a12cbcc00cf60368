#include "cli/open_run.hpp"

#include <utility>

namespace headrace::cli {

RunInputs open_run(const std::string& config, const std::string& split, int threads,
                   std::optional<device::DeviceChoice> device, const std::string& run) {
  loader::RunConfig read = loader::RunConfig::load(config);
  if (threads >= 0) read.loader.threads = threads;
  if (device) read.loader.device = *device;
  return loader::open_run(std::move(read), split, run);
}

}  // namespace headrace::cli
