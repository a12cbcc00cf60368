#include "learn/handover/dicom/derived_uid.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "headrace/core/sha256.hpp"

namespace headrace::handover {
namespace {

using Uuid = std::array<std::uint8_t, 16>;

Uuid uuid_of(std::string_view text) {
  const std::string hex = sha256_hex(text);
  Uuid uuid{};
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    std::from_chars(hex.data() + 2 * i, hex.data() + 2 * i + 2, uuid[i], 16);
  }
  uuid[6] = static_cast<std::uint8_t>((uuid[6] & 0x0f) | 0x80);  // version 8
  uuid[8] = static_cast<std::uint8_t>((uuid[8] & 0x3f) | 0x80);  // variant
  return uuid;
}

/// The bytes as one big-endian number, by long division.
std::string decimal_of(Uuid number) {
  std::string digits;
  while (std::any_of(number.begin(), number.end(), [](std::uint8_t byte) { return byte != 0; })) {
    unsigned rest = 0;
    for (std::uint8_t& byte : number) {
      const unsigned value = rest << 8 | byte;
      byte = static_cast<std::uint8_t>(value / 10);
      rest = value % 10;
    }
    digits += static_cast<char>('0' + rest);
  }
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace

std::string derived_uid(std::string_view text) { return "2.25." + decimal_of(uuid_of(text)); }

}  // namespace headrace::handover
