#pragma once
#include "headrace/core/shared_list.hpp"

namespace headrace::transform {

/// One entry of `transforms:` in a run on slides; slide_spec.hpp has it complete.
struct TransformSpec;

/// The list as configs and graphs hold it: without the operations' headers, so that a change of one
/// rebuilds only what makes or reads lists.
using TransformList = SharedList<TransformSpec>;

}  // namespace headrace::transform
