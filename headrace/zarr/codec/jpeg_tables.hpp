#pragma once
#include <memory>

#include "headrace/zarr/codec/registry.hpp"

namespace headrace::zarr {

/// Codec "headrace.jpeg_tables": behind `imagecodecs_jpeg`, whose chunks are the abbreviated JPEGs
/// of a TIFF's tiles. It puts the tables that the directory states once in front of each, and makes
/// the colour markers agree with the directory (pixels/jpeg/jpeg_splice.hpp). Read alone.
///
/// example  {"name": "headrace.jpeg_tables", "configuration": {"tables": "/9j/2wBD…", "rgb": true}}
/// options  tables: tag JPEGTables in base64, empty where there is none; rgb: whether the
///          photometric tag says RGB
/// errors   malformed; decode: corrupt
std::unique_ptr<BytesBytesCodec> make_jpeg_tables(CodecConfig& config);

}  // namespace headrace::zarr
