#pragma once
#include <fmt/ranges.h>

#include <cstddef>
#include <vector>

#include "headrace/core/error.hpp"

namespace headrace::python {

/// The bytes of an array. Errors: memory (more than any machine has, or than size_t can count).
inline std::size_t array_bytes(const std::vector<std::size_t>& shape, std::size_t element) {
  constexpr std::size_t kMost = std::size_t{1} << 46;
  std::size_t bytes = element;
  for (const std::size_t extent : shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > kMost) {
      fail(ErrorCode::memory, "An array of {} elements was asked for; read it in parts.",
           fmt::join(shape, " x "));
    }
  }
  return bytes;
}

}  // namespace headrace::python
