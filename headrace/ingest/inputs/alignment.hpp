#pragma once
#include <cstdint>

namespace headrace::ingest {

/// Errors: usage, where `align` is neither 0 nor a power of two up to 65536.
void check_alignment(std::int64_t bytes);

}  // namespace headrace::ingest
