#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace headrace::ingest {

struct PruneOptions {
  std::string store;
  std::vector<std::string> drop;  ///< versions to give up, by hash or its beginning
  int keep_last = 0;              ///< give up all but this many last ones; 0: none
  bool dry_run = false;           ///< report what would be removed, and keep it
};

struct PruneResult {
  std::vector<std::string> dropped;  ///< versions
  std::vector<std::string> removed;  ///< objects that no version has any longer, by key
  std::uint64_t bytes = 0;           ///< of these
};

/// Gives up the named versions of a store, never the current one, and removes all objects that no
/// version has, including remainders of a stopped ingest. A training on a version that is given up
/// fails at its next read.
/// errors  usage (the current version, no version of that name; an ingest is running or
///         unfinished), io
PruneResult prune(const PruneOptions& options);

}  // namespace headrace::ingest
