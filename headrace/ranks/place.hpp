#pragma once
#include <string>

namespace headrace::ranks {

/// Which of the processes that work together this one is.
struct Place {
  int rank = 0, size = 1;
  /// Names the start: the same in all its processes, another in every other start.
  std::string start;

  /// From RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE, as launchers set them; alone where
  /// RANK and WORLD_SIZE are not there. Errors: usage (one without the other, no such rank),
  /// unsupported (processes on several machines).
  static Place from_environment();
};

inline constexpr int kMaxProcesses = 256;

/// What run_processes names a start by; who started a process itself has it.
inline constexpr const char* kStartVariable = "HEADRACE_START";

}  // namespace headrace::ranks
