#pragma once
#include <string>
#include <vector>

#include "headrace/core/json.hpp"
#include "headrace/ingest/phi/phi_check.hpp"
#include "headrace/ingest/versions/verify.hpp"

namespace headrace::ingest {

/// All that is held against a store: its objects, and in a store of volumes its texts too.
struct FolderVerification {
  std::string folder;
  Verification objects;
  std::vector<PhiFinding> phi;  ///< empty for a store of slides
  /// Of the one version that was verified, of the current one where all were; empty where something
  /// is damaged.
  std::string dataset_hash;

  bool sound() const noexcept { return objects.damage.empty() && phi.empty(); }
  /// As `headrace verify --json` prints it.
  Json report() const;
};

/// Verifies a store on a file system by `verify` and `check_phi`. Errors: not_found (no such
/// folder), those of `verify`.
FolderVerification verify_folder(const std::string& folder, ThreadPool& pool,
                                 const std::string& version = "");

}  // namespace headrace::ingest
