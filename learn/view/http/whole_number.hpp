#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace headrace::view {

/// A whole number from 0 on, in digits alone; nothing for any other text.
inline std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace headrace::view
