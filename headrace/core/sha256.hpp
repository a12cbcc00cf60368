#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace headrace {

/// Incremental SHA-256 (FIPS 180-4, by OpenSSL). One object for one thread.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text);
  /// Lower-case hex of everything so far; the object is ready for a new message afterwards.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_hex(std::span<const std::byte> bytes);
std::string sha256_hex(std::string_view text);

/// HMAC-SHA256 (RFC 2104): 32 bytes.
std::string hmac_sha256(std::string_view key, std::string_view message);
/// Two lower-case digits a byte.
std::string hex_text(std::string_view bytes);

}  // namespace headrace
