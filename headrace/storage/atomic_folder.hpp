#pragma once
#include <filesystem>

namespace headrace::storage {

/// A folder that appears under its name only when finished: filled beside it as ".part-NAME" and
/// renamed. If it is dropped unfinished, nothing remains; what a killed process left, the next one
/// for the same name removes, so one process at a time may write a name. One thread.
class AtomicFolder {
 public:
  /// Makes nothing yet. Errors: unsupported (a URL), io (what an earlier one left can't be removed).
  explicit AtomicFolder(const std::filesystem::path& folder);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  /// Where to write; absent at first.
  const std::filesystem::path& aside() const noexcept { return aside_; }
  /// Gives it its name, which an absent or empty folder may have. What is in it, is to be synced
  /// before. Errors: io.
  void finish();

 private:
  std::filesystem::path folder_, aside_;
};

}  // namespace headrace::storage
