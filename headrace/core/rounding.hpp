#pragma once
#include <cstdint>

namespace headrace {

/// The least multiple of `unit` that is not below `value`. Neither is negative.
constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace headrace
