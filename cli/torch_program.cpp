#include "cli/torch_program.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "headrace/core/error.hpp"

namespace headrace::cli {

#ifdef HR_HAS_TORCH_PROGRAM
namespace {

/// LibTorch's threads (OpenMP) wait for each other in circles, some milliseconds long. Where other
/// work has the cores, the one that is waited for does not run meanwhile, and a step takes several
/// times as long. So few circles cost next to nothing where the machine is idle. The library reads
/// it once, when it is loaded, so it is said to the program before that starts. Results do not
/// depend on it.
void wait_without_spinning() {
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) setenv("GOMP_SPINCOUNT", "1000", 0);
}

}  // namespace
#endif

void run_with_torch([[maybe_unused]] const char* command) {
#ifdef HR_HAS_TORCH_PROGRAM
  const std::string program = torch_program();
  wait_without_spinning();
  std::fflush(nullptr);
  execv(program.c_str(), command_line);
  fail(ErrorCode::unsupported,
       "headrace {}: {} can't be started ({}). Keep it beside headrace, or build again.", command,
       program, std::strerror(errno));
#else
  fail(ErrorCode::unsupported,
       "headrace {}: this build has no LibTorch. Run tools/deps/install.sh and build again with "
       "HR_WITH_TORCH=ON.",
       command);
#endif
}

}  // namespace headrace::cli
