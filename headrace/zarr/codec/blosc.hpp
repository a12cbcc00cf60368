#pragma once
#include <memory>

#include "headrace/zarr/codec/registry.hpp"

namespace headrace::zarr {

/// Codec "blosc": blosc 1 frames. Those of zstd and LZ4 are read block by block (see
/// blosc_frame.hpp), zstd and bit-shuffled 16-bit elements written so; all else by libblosc. Read
/// and written.
///
/// specification  https://zarr-specs.readthedocs.io/en/latest/v3/codecs/blosc/index.html
/// example        {"name": "blosc", "configuration": {"cname": "zstd", "clevel": 5, "shuffle":
/// "noshuffle", "blocksize": 0}}
/// errors         malformed (configuration); decode: corrupt
std::unique_ptr<BytesBytesCodec> make_blosc(CodecConfig& config);

}  // namespace headrace::zarr
