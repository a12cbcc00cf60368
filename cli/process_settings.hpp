#pragma once

namespace headrace::cli {

/// What a process that computes with LibTorch needs of malloc and the environment. Before anything
/// of LibTorch runs and before there are other threads.
void set_process_for_torch();

}  // namespace headrace::cli
