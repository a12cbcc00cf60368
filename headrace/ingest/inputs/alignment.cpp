#include "headrace/ingest/inputs/alignment.hpp"

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"

namespace headrace::ingest {

void check_alignment(std::int64_t bytes) {
  constexpr std::int64_t kMost = 65536;
  if (bytes >= 0 && bytes <= kMost && (bytes & (bytes - 1)) == 0) return;
  fail(ErrorCode::usage, "{} {}: must be 0, or a power of two up to {}", Option{"align"}, bytes,
       kMost);
}

}  // namespace headrace::ingest
