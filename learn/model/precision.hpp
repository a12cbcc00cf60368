#pragma once
#include <functional>

#include "headrace/core/auto_switch.hpp"
#include "learn/model/runtime.hpp"

namespace headrace::model {

/// Whether a deterministic training in mixed precision can be: cuDNN need not have a deterministic
/// algorithm in bfloat16 for every convolution. Tries a step by `attempt`, and where LibTorch
/// refuses it and takes one in float32, sets `runtime` to float32 and says so. What decides is
/// whether there is an algorithm, never how fast it is: a result may not depend on a clock.
///
/// in      attempt  forward and backward of the network under Autocast of `runtime`, without effect
/// errors  unsupported (amp is on: what was asked for can't be), those of `attempt` in float32, and
///         in bfloat16 a lack of memory (lacks_memory)
void settle_precision(Runtime& runtime, AutoSwitch amp, bool deterministic,
                      const std::function<void(const Runtime&)>& attempt);

}  // namespace headrace::model
