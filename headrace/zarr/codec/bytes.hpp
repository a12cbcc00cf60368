#pragma once
#include <memory>

#include "headrace/zarr/codec/registry.hpp"

namespace headrace::zarr {

/// Codec "bytes": the elements in C order, little or big endian. Read and written.
///
/// specification  https://zarr-specs.readthedocs.io/en/latest/v3/codecs/bytes/index.html
/// example        {"name": "bytes", "configuration": {"endian": "little"}}
/// errors         malformed (no "endian" for elements of several bytes); decode: corrupt (size)
std::unique_ptr<ArrayBytesCodec> make_bytes(CodecConfig& config, const ChunkSpec& spec);

}  // namespace headrace::zarr
