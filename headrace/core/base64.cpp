#include "headrace/core/base64.hpp"

namespace headrace {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(std::span<const std::byte> bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) {
      return i + k < bytes.size() ? std::to_integer<unsigned>(bytes[i + k]) : 0u;
    };
    const unsigned word = byte(0) << 16 | byte(1) << 8 | byte(2);
    for (unsigned k = 0; k < 4; ++k)
      out += i + k <= bytes.size() ? kDigits[word >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::optional<std::vector<std::byte>> from_base64(std::string_view text) {
  std::vector<std::byte> out;
  if (text.size() % 4 != 0) return std::nullopt;
  out.reserve(text.size() / 4 * 3);
  unsigned word = 0, bits = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) break;
    word = word << 6 | static_cast<unsigned>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out.push_back(static_cast<std::byte>(word >> bits));
    word &= (1u << bits) - 1;
  }
  // Whatever else there was (padding too long, digits after it, bits left) gives another text.
  if (to_base64(out) != text) return std::nullopt;
  return out;
}

}  // namespace headrace
