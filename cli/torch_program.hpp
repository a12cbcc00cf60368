#pragma once
#include <filesystem>
#include <string>

namespace headrace::cli {

/// Replaces this program by headrace-torch, which lies beside it and runs the same command line
/// with LibTorch. It is a separate program because LibTorch and its CUDA libraries take 0.4 s and
/// 470 MB to start, which no other command should pay. Errors: unsupported (a build without
/// LibTorch, or its program is gone)
[[noreturn]] void run_with_torch(const char* command);

/// That program's path.
inline std::string torch_program() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "headrace-torch";
}

/// The arguments that run_with_torch passes on; main sets them before anything is parsed.
extern char** command_line;

}  // namespace headrace::cli
