#pragma once
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace headrace::ingest {

/// The masks that are read in one run, for the question what 255 means in one of them that has no
/// other value but 0: ignore where others have values of classes, else the class.
class MaskPeers {
 public:
  explicit MaskPeers(std::vector<std::string> paths);

  /// Whether one of them has a value between 0 and 255. Reads them, in the order of their paths,
  /// until one has, once. Errors: as imaging::open_volume. Safe from any thread.
  bool have_classes() const;

 private:
  std::vector<std::string> paths_;
  mutable std::mutex mutex_;
  mutable std::optional<bool> found_;
};

}  // namespace headrace::ingest
