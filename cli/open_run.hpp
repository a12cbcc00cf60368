#pragma once
#include <optional>
#include <string>

#include "headrace/device/device_choice.hpp"
#include "headrace/loader/run_inputs.hpp"
#include "headrace/loader/stall_json.hpp"

namespace headrace::cli {

/// What a run reads, with the hash of its whole config, of which the loader takes a part.
struct RunInputs : loader::RunInputs {
  std::string config_hash;
};

/// Reads a run config and opens its store, as loader::open_run does. `threads` below 0 and no
/// `device` keep the config's values.
RunInputs open_run(const std::string& config, const std::string& split, int threads,
                   std::optional<device::DeviceChoice> device, const std::string& run = {},
                   const loader::ListedPatches& listed = {});

}  // namespace headrace::cli
