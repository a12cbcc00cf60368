#pragma once

namespace headrace::cli {

/// Prints every key of a run config, and every operation of `transforms:` with its options: the
/// default, what it is and what it accepts.
void print_config_keys();

}  // namespace headrace::cli
