#pragma once
#include "headrace/core/json.hpp"

namespace headrace::train {

/// The hardware that a run is computed on: {cpu (its name), cores (usable ones), instruction_set
/// (of our kernels), memory_bytes, gpus[] (names), gpu_driver}; null where the system does not say.
/// No names of hosts or users.
Json machine_facts();

}  // namespace headrace::train
