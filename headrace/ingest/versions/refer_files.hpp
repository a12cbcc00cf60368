#pragma once
#include <cstdint>
#include <string>

namespace headrace::ingest {

struct ReferOptions {
  std::string store;
  std::string root;  ///< a folder or a URL
  int jobs = 0;      ///< threads; 0: every core
};

struct ReferResult {
  std::uint64_t files = 0;
  std::string before, after;  ///< roots
};

/// Has a store look for the files of its pixels below another root from now on (docs/formats.md,
/// "Pixels by reference"). Each file is looked at there first: of the size, and with the stamp, of
/// the one that was ingested. No version changes.
/// errors  usage (the store has no pixels by reference; an ingest is running), not_found and corrupt
///         (the first file that is absent or another one; nothing was changed), io
ReferResult refer_files(const ReferOptions& options);

}  // namespace headrace::ingest
