#pragma once
#include <memory>

#include "headrace/zarr/codec/registry.hpp"

namespace headrace::zarr {

/// Codec "headrace.jpeg2k_tile": behind `imagecodecs_jpeg2k`, whose chunks are the tiles of a TIFF
/// as the file has them. It states in each what the directory states once for all, that the
/// components are luma and chroma (pixels/jpeg2000/jpeg2000_stream.hpp). Read alone.
///
/// example  {"name": "headrace.jpeg2k_tile", "configuration": {"ycbcr": true}}
/// errors   malformed; decode: corrupt, unsupported (a palette or an order of channels)
std::unique_ptr<BytesBytesCodec> make_jpeg2k_tile(CodecConfig& config);

}  // namespace headrace::zarr
