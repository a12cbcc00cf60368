#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "headrace/zarr/codec/registry.hpp"

namespace headrace::zarr {

inline constexpr std::size_t kCrc32cBytes = 4;

/// CRC-32C (Castagnoli; RFC 3720 appendix B.4), by the CPU's instruction where it has one.
std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept;

/// The same by tables on any CPU; the tests compare the two.
std::uint32_t crc32c_by_table(std::span<const std::byte> bytes) noexcept;

/// Codec "crc32c": four bytes of checksum, little-endian, after the data. Read (always checked) and
/// written.
///
/// specification  https://zarr-specs.readthedocs.io/en/latest/v3/codecs/crc32c/index.html
/// example        {"name": "crc32c"}
std::unique_ptr<BytesBytesCodec> make_crc32c(CodecConfig& config);

}  // namespace headrace::zarr
