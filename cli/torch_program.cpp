#include "cli/torch_program.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "headrace/core/error.hpp"

namespace headrace::cli {

void run_with_torch([[maybe_unused]] const char* command) {
#ifdef HR_HAS_TORCH_PROGRAM
  const std::string program = torch_program();
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
