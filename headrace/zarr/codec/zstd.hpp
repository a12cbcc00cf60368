#pragma once
#include <cstddef>
#include <memory>
#include <span>

#include "headrace/zarr/codec/registry.hpp"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace headrace::zarr {

/// This thread's zstd contexts: their tables are made once, not once for each chunk.
ZSTD_CCtx_s* zstd_compressor();
ZSTD_DCtx_s* zstd_decompressor();

/// Checks a stream without decoding it, before it goes to a decoder that is less careful than
/// libzstd: it must be one frame, from end to end, that states `size`. Errors: corrupt; unsupported
/// (a frame without a size, several frames).
void check_zstd_stream(std::span<const std::byte> packed, std::size_t size);

/// Codec "zstd": Zstandard frames (RFC 8878). Read and written.
///
/// specification  https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/zstd
/// example        {"name": "zstd", "configuration": {"level": 5, "checksum": false}}
/// errors         malformed (level); decode: corrupt (not a frame, another size, checksum)
std::unique_ptr<BytesBytesCodec> make_zstd(CodecConfig& config);

}  // namespace headrace::zarr
