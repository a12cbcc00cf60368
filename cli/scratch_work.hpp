#pragma once
#include <filesystem>
#include <functional>

namespace headrace::cli {

/// Runs `work` in a child process, with a folder that is removed when the child has ended, whether
/// it returns, throws or is killed; what only a kill of this process itself leaves, the next call
/// removes. The folder above must be there. Returns the child's exit code; SIGINT, SIGTERM and
/// SIGHUP end both.
/// For a process without other threads.
/// errors  usage (another process works in the folder), io, cancelled (the child was killed)
int work_in_scratch(const std::filesystem::path& scratch, const std::function<int()>& work);

}  // namespace headrace::cli
