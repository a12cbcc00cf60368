#pragma once
#include "headrace/zarr/codec/registry.hpp"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace headrace::zarr {

/// This thread's zstd contexts: their tables are made once, not for each chunk.
ZSTD_CCtx_s* zstd_compressor();
ZSTD_DCtx_s* zstd_decompressor();

/// Codec "zstd": Zstandard frames (RFC 8878). Read and written.
///
/// specification  https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/zstd
/// example        {"name": "zstd", "configuration": {"level": 5, "checksum": false}}
/// errors         malformed (level); decode: corrupt (not a frame, another size, checksum)
std::unique_ptr<BytesBytesCodec> make_zstd(CodecConfig& config);

}  // namespace headrace::zarr
