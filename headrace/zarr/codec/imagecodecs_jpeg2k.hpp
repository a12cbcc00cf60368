#pragma once
#include <memory>

#include "headrace/zarr/codec/registry.hpp"

namespace headrace::zarr {

/// Codec "imagecodecs_jpeg2k": one JPEG 2000 codestream or JP2 file for each chunk, as zarr-python
/// reads it with imagecodecs. The chunk is (y, x, 3), (y, x, 1) or (y, x) of 8 bits, after any axes of
/// length 1; an interleaved (c, y, x) array has `transpose` before. A JP2 file that states sYCC becomes
/// RGB, all else is as decoded. By OpenJPEG, of whose versions some round a few values in ten million
/// of lossy streams otherwise. Read; written only by copying (ArrayWriter::write_encoded_shard).
///
/// specification  https://github.com/cgohlke/imagecodecs/blob/master/imagecodecs/zarr.py (class
/// Jpeg2k)
/// example        {"name": "imagecodecs_jpeg2k"}
/// options        level, codecformat, colorspace, tile, bitspersample (8), resolutions, reversible, mct,
///                verbose, numthreads: of encoding alone, and passed over; planar must be null
/// errors         malformed, unsupported (not uint8, not an image; encode); decode: corrupt (damaged,
///                another size, depth or number of components)
std::unique_ptr<ArrayBytesCodec> make_imagecodecs_jpeg2k(CodecConfig& config,
                                                         const ChunkSpec& spec);

}  // namespace headrace::zarr
