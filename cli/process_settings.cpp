#include "cli/process_settings.hpp"

#include <malloc.h>

#include <cstdlib>
#include <limits>

namespace headrace::cli {

void set_process_for_torch() {
  // LibTorch frees every temporary of a step. glibc would give their pages back to the system and
  // take fresh ones in the next step; a page's first touch costs more than what is computed in it
  // (docs/architecture.md, "Memory").
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  // cuBLAS is deterministic only with a fixed workspace; it reads this when its first handle is
  // made.
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
}

}  // namespace headrace::cli
