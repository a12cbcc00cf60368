#pragma once
#include <memory>

#include "headrace/zarr/codec/registry.hpp"

namespace headrace::zarr {

/// Codec "gzip": one gzip member or several (RFC 1952). Read and written (no time and no name in
/// the header, so that the same data are the same bytes).
///
/// specification  https://zarr-specs.readthedocs.io/en/latest/v3/codecs/gzip/index.html
/// example        {"name": "gzip", "configuration": {"level": 5}}
std::unique_ptr<BytesBytesCodec> make_gzip(CodecConfig& config);

}  // namespace headrace::zarr
