#pragma once
#include <cstddef>

namespace headrace::zarr {

/// What blosc does to a block of elements before it compresses it. bits: for 16-bit elements only.
enum class BloscFilter { none, bytes, bits };

/// Puts bit (or byte) 0 of every element first, then bit 1 of every element, and so on, as blosc 1
/// does. Bytes after the last whole element stay as they are; so does, under `bits`, a block whose
/// number of elements is not a multiple of 8.
void apply_filter(BloscFilter filter, std::size_t typesize, std::size_t size, const std::byte* src,
                  std::byte* dst);

/// Puts the bytes [begin, end) of the block, and maybe some beside them, to their places in `dst`.
void undo_filter(BloscFilter filter, std::size_t typesize, std::size_t size, const std::byte* src,
                 std::size_t begin, std::size_t end, std::byte* dst);

}  // namespace headrace::zarr
