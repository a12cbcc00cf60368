#pragma once
#include <string>

#include "headrace/core/error.hpp"

namespace headrace::cohort {

/// Version of a store's layout and of its manifest (docs/formats.md). Others can't be read.
inline constexpr int kStoreFormat = 2;

/// Refuses a store of another format. Errors: unsupported.
inline void check_store_format(int format, const std::string& origin) {
  if (format == kStoreFormat) return;
  if (format > 0 && format < kStoreFormat) {
    fail(ErrorCode::unsupported,
         "{}: store format {}, made by an earlier version (this one reads {}); ingest it again",
         origin, format, kStoreFormat);
  }
  fail(ErrorCode::unsupported,
       "{}: store format {}, this version reads {}. Use the version that wrote it", origin, format,
       kStoreFormat);
}

}  // namespace headrace::cohort
