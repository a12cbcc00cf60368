#pragma once
#include "headrace/zarr/codec/registry.hpp"

namespace headrace::zarr {

/// Codec "blosc": blosc 1 frames. zstd frames are read and written block by block (see
/// blosc_frame.hpp); those of the other compressors, and bit-shuffled ones, by libblosc. Read and
/// written.
///
/// specification  https://zarr-specs.readthedocs.io/en/latest/v3/codecs/blosc/index.html
/// example        {"name": "blosc", "configuration": {"cname": "zstd", "clevel": 5, "shuffle":
/// "noshuffle", "blocksize": 0}} errors         malformed (configuration); decode: corrupt
std::unique_ptr<BytesBytesCodec> make_blosc(CodecConfig& config);

}  // namespace headrace::zarr
