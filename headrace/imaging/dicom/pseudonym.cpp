#include "headrace/imaging/dicom/pseudonym.hpp"

#include "headrace/core/error.hpp"
#include "headrace/core/sha256.hpp"

namespace headrace::imaging {

Pseudonymizer::Pseudonymizer(std::string key) : key_(std::move(key)) {
  constexpr std::size_t kMinKeyBytes = 16;
  if (key_.size() < kMinKeyBytes) {
    fail(ErrorCode::usage, "the key for patient identifiers has {} bytes, expected at least {}.",
         key_.size(), kMinKeyBytes);
  }
}

std::string Pseudonymizer::operator()(std::string_view kind, std::string_view identifier) const {
  if (identifier.empty()) return {};
  std::string message(kind);
  message += '\0';
  message += identifier;
  constexpr std::size_t kKeptBytes = 16;
  return hex_text(hmac_sha256(key_, message).substr(0, kKeptBytes));
}

}  // namespace headrace::imaging
