#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace headrace::ingest {

struct PruneOptions {
  std::string store;
  std::vector<std::string> drop;  ///< versions to give up, by hash or its beginning
  int keep_last = 0;              ///< give up all but the last so many; 0: none
  bool dry_run = false;           ///< say what would go, and leave it
};

struct PruneResult {
  std::vector<std::string> dropped;  ///< versions
  std::vector<std::string> removed;  ///< objects that no version has any more, by key
  std::uint64_t bytes = 0;           ///< of these
};

/// Gives up the named versions of a store, never the current one, and removes what no version has:
/// also what a stopped ingest left. A training on a version that is given up fails at its next
/// read. errors  usage (the current version, none of that name; an ingest is at work or to be
/// finished), io
PruneResult prune(const PruneOptions& options);

}  // namespace headrace::ingest
