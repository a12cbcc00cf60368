#include "headrace/core/sha256.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "headrace/core/error.hpp"

namespace headrace {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
  void start() {
    if (context == nullptr || EVP_DigestInit_ex(context, EVP_sha256(), nullptr) != 1) {
      fail(ErrorCode::internal, "OpenSSL offers no SHA-256");
    }
  }
};

Sha256::Sha256() : state_(std::make_unique<State>()) { state_->start(); }
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const std::byte> bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}
void Sha256::update(std::string_view text) { update(std::as_bytes(std::span(text))); }

std::string Sha256::hex() {
  unsigned char digest[32];
  EVP_DigestFinal_ex(state_->context, digest, nullptr);
  state_->start();
  return hex_text({reinterpret_cast<const char*>(digest), sizeof digest});
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}
std::string sha256_hex(std::string_view text) { return sha256_hex(std::as_bytes(std::span(text))); }

std::string hmac_sha256(std::string_view key, std::string_view message) {
  unsigned char digest[32];
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(message.data()), message.size(), digest,
           nullptr) == nullptr)
    fail(ErrorCode::internal, "OpenSSL offers no HMAC");
  return {reinterpret_cast<const char*>(digest), sizeof digest};
}

std::string hex_text(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace headrace
