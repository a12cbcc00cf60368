#pragma once
#include <memory>

#include "headrace/zarr/codec/registry.hpp"

namespace headrace::zarr {

/// How the codec names itself in errors of a JPEG.
inline constexpr const char* kJpegOrigin = "codec imagecodecs_jpeg";

/// Codec "imagecodecs_jpeg": one self-contained 8-bit JPEG for each chunk, as zarr-python reads it
/// with imagecodecs. The chunk is (y, x, 3), (y, x, 1) or (y, x), after any axes of length 1; an
/// interleaved (c, y, x) array has `transpose` before. Decoded by libjpeg-turbo at its defaults
/// (accurate integer DCT, smooth chroma upsampling): the pixels that OpenSlide and Pillow give. An
/// Adobe marker decides between RGB and YCbCr. Read and written.
///
/// specification  https://github.com/cgohlke/imagecodecs/blob/master/imagecodecs/zarr.py (class
/// Jpeg)
/// example        {"name": "imagecodecs_jpeg", "configuration": {"level": 90}}
/// options        level: quality 0-100 (95 when null); subsampling: "444", "422" or "420" or null
///                ("420"); the others must be null. They matter to `encode` alone.
/// errors         malformed, unsupported (not uint8, not an image); decode: corrupt (damaged,
/// another size, CMYK)
std::unique_ptr<ArrayBytesCodec> make_imagecodecs_jpeg(CodecConfig& config, const ChunkSpec& spec);

}  // namespace headrace::zarr
