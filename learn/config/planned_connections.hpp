#pragma once
#include <string>
#include <vector>

#include "learn/config/run_config.hpp"

namespace headrace::config {

/// A host to which a config leads.
struct PlannedConnection {
  std::string host;      ///< "slides.site:443"
  std::string purpose;   ///< "the store"
  std::string named_by;  ///< "data.store", "references.json of cohort.zarr"
  bool allowed = false;  ///< false: a run ends before it opens a connection there
};

/// Every host that runs of this config may speak to, and those that they would have to but may not,
/// in the order in which they are met. No connection is opened for it: what stands in a store at a URL
/// is not known. Errors: usage (a URL that can't be opened), malformed (references.json).
std::vector<PlannedConnection> planned_connections(const RunConfig& config);

}  // namespace headrace::config
