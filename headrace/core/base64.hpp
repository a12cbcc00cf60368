#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

/// RFC 4648, section 4: with padding, without line breaks.
std::string to_base64(std::span<const std::byte> bytes);
/// Nothing where `text` is not what to_base64 gives for any bytes.
std::optional<std::vector<std::byte>> from_base64(std::string_view text);

}  // namespace headrace
