#pragma once
#include <string>

namespace headrace::ingest {

/// The secret of a site that turns identifiers into pseudonyms (imaging/dicom/pseudonym.hpp).
/// With it, anyone can test whether a patient is in a store, so it lies outside the store and is
/// readable by its owner only. Patients keep their names only with the same key.
class SiteKey {
 public:
  /// key_file: its first line is the key, at least 16 bytes. Empty: <out>.key, which is made by
  /// keep() when it is not there. Errors: not_found, malformed, io; usage (the key would lie in the
  /// store; the store has pseudonyms of a key that no longer exists).
  SiteKey(const std::string& key_file, const std::string& out);

  const std::string& key() const noexcept { return key_; }
  /// Whether the key was drawn just now and is not on disk yet.
  bool fresh() const noexcept { return fresh_; }
  const std::string& file() const noexcept { return file_; }

  /// Writes a fresh key, mode 0600, never over another file. Errors: io.
  void keep();
  /// Removes a key that this object drew and stored, where the store has no pseudonym made with it.
  void withdraw() noexcept;

 private:
  std::string store_, file_, key_;
  bool fresh_ = false, kept_ = false;
};

}  // namespace headrace::ingest
