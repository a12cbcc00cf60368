#include "headrace/imaging/dicom/pseudonym.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "headrace/core/error.hpp"

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
  std::array<unsigned char, 32> digest{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
       reinterpret_cast<const unsigned char*>(message.data()), message.size(), digest.data(),
       &size);
  constexpr std::size_t kKeptBytes = 16;
  std::string hex;
  for (std::size_t i = 0; i < kKeptBytes; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace headrace::imaging
