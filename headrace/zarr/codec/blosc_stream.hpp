#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace headrace::zarr {

/// The compressors whose blocks are read and written here, one by one; libblosc handles the others.
enum class BloscCompressor { lz4, lz4hc, zstd };

/// Decodes one stream of a block, which fills `out` exactly. at: its place in the frame, for
/// errors. Errors: corrupt.
void decode_stream(bool lz4, std::span<const std::byte> packed, std::size_t at,
                   std::span<std::byte> out);

/// Compresses one block into `out`, which has at least `stream_bound` bytes. level: blosc's, 1
/// to 9. planes: 16 where the block is bit-shuffled, else 0. zstd then writes the low planes, as
/// far as they are noise, and the rest in separate zstd blocks, so that each gets a suitable code:
/// a tenth of the time to read, and smaller too. Returns the bytes used; 0 where that is not less
/// than the block.
std::size_t encode_stream(BloscCompressor compressor, int level, std::span<const std::byte> block,
                          std::size_t planes, std::span<std::byte> out);

std::size_t stream_bound(BloscCompressor compressor, std::size_t size);

}  // namespace headrace::zarr
