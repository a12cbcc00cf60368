#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/dtype.hpp"

namespace headrace::cli {

/// Writes NumPy's .npy, version 1.0, whole or not at all (storage::AtomicFile). Errors: io.
///
/// source  https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
void write_npy(const std::string& path, DType dtype, const std::vector<std::int64_t>& shape,
               std::span<const std::byte> bytes);

}  // namespace headrace::cli
