#pragma once
#include <cstddef>

namespace headrace::zarr {

/// What blosc does to a block of elements before it compresses it. Bits: of 16-bit elements alone.
enum class BloscFilter { none, bytes, bits };

/// Bit `b` of every element behind each other, or byte `b`, as blosc 1 has them; what is left
/// behind the last whole element, and a block whose elements are no multiple of 8 under `bits`,
/// stay as they are.
void apply_filter(BloscFilter filter, std::size_t typesize, std::size_t size, const std::byte* src,
                  std::byte* dst);

/// The bytes [begin, end) of the block, and maybe some beside them, to their places in `dst`.
void undo_filter(BloscFilter filter, std::size_t typesize, std::size_t size, const std::byte* src,
                 std::size_t begin, std::size_t end, std::byte* dst);

}  // namespace headrace::zarr
