#pragma once
#include <string>

namespace headrace::ranks {

/// The rank of this process among those that work together.
struct RankInfo {
  int rank = 0, size = 1;
  /// Identifies the start: the same in all its processes, different in every other start.
  std::string start;

  /// From RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE, as launchers set them; a single
  /// process where RANK and WORLD_SIZE are missing. Errors: usage (one without the other, no such
  /// rank), unsupported (processes on several machines).
  static RankInfo from_environment();
};

inline constexpr int kMaxProcesses = 256;

/// The variable by which a program that starts the processes itself names the start to them.
inline constexpr const char* kStartVariable = "HEADRACE_START";

}  // namespace headrace::ranks
