#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "headrace/zarr/codec/registry.hpp"

namespace headrace::zarr {

inline constexpr std::size_t kCrc32cBytes = 4;

/// Codec "crc32c": four bytes of checksum, little-endian, after the data. Read (always checked) and
/// written.
///
/// specification  https://zarr-specs.readthedocs.io/en/latest/v3/codecs/crc32c/index.html
/// example        {"name": "crc32c"}
std::unique_ptr<BytesBytesCodec> make_crc32c(CodecConfig& config);

}  // namespace headrace::zarr
