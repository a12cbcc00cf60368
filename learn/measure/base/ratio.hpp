#pragma once
#include <cstdint>
#include <optional>

namespace headrace::measure {

/// part / whole; none where whole is 0.
inline std::optional<double> ratio(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace headrace::measure
