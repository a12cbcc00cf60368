#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace headrace {

/// CRC-32C (Castagnoli; RFC 3720 appendix B.4), by the CPU's instruction where it has one.
std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept;

/// The same by tables on any CPU; the tests compare the two.
std::uint32_t crc32c_by_table(std::span<const std::byte> bytes) noexcept;

}  // namespace headrace
