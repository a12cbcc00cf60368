#pragma once

namespace headrace {

/// Bytes of memory that this machine has, or that its control group allows (a container's or a
/// job's limit) where that is less.
double machine_memory_bytes();

}  // namespace headrace
