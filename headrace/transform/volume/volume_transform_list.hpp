#pragma once
#include "headrace/core/shared_list.hpp"

namespace headrace::transform {

/// One entry of `transforms:` in a run on volumes; volume_spec.hpp has it complete.
struct VolumeTransformSpec;

/// The list as configs and graphs hold it (see TransformList).
using VolumeTransformList = SharedList<VolumeTransformSpec>;

}  // namespace headrace::transform
