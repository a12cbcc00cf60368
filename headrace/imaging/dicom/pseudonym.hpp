#pragma once
#include <string>
#include <string_view>

namespace headrace::imaging {

/// Replaces identifiers by keyed hashes, so that files of one patient stay together, and without
/// the key it is impossible to tell whose they are, or to try out a list of names. HMAC-SHA256
/// (FIPS 198-1), the first 128 bits in hex.
class Pseudonymizer {
 public:
  /// key: a secret of the site, at least 16 bytes. Errors: usage, when it is shorter.
  explicit Pseudonymizer(std::string key);

  /// `kind` ("patient", "study", …) keeps equal identifiers of different kinds apart. An empty
  /// identifier stays empty.
  std::string operator()(std::string_view kind, std::string_view identifier) const;

 private:
  std::string key_;
};

}  // namespace headrace::imaging
