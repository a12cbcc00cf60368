#include "headrace/loader/plan/share.hpp"

#include "headrace/core/error.hpp"

namespace headrace::loader {

Share share_of(std::int64_t batch, std::int64_t rank, std::int64_t processes) {
  if (rank < 0 || rank >= processes) {
    fail(ErrorCode::usage, "rank {} is not one of {} processes: ranks count from 0", rank,
         processes);
  }
  if (batch < processes) {
    fail(ErrorCode::usage,
         "a batch of {} samples can't be shared by {} processes. Raise sampling.batch (of tiles "
         "eval.batch), or start fewer",
         batch, processes);
  }
  const std::int64_t first = rank * batch / processes;
  return {.first = first, .count = (rank + 1) * batch / processes - first};
}

}  // namespace headrace::loader
