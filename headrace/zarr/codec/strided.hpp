#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace headrace::zarr {

/// Arrays with more axes than this are refused as unsupported.
inline constexpr int kMaxRank = 8;

/// One number for each axis, slowest first; entries past the rank are not read.
using Index = std::array<std::int64_t, kMaxRank>;

/// A box of elements inside an array or a chunk.
struct Box {
  int rank = 0;
  Index origin{}, shape{};
};

/// Elements in memory: the address of element (0, …, 0), and the step of each axis in bytes.
struct View {
  std::byte* data = nullptr;
  Index strides_bytes{};
};

/// Elements of a box; 0 where an axis is empty.
std::int64_t count_elements(int rank, const Index& shape) noexcept;

/// Strides of a C-order array of this shape.
Index contiguous_strides(int rank, const Index& shape, std::int64_t item_size) noexcept;

/// Copies a box of elements of `item_size` bytes (1, 2, 4 or 8). The two must not overlap.
/// swap_bytes: reverses the bytes of each element.
/// cost  one memcpy for each run that is contiguous on both sides
void copy_elements(int rank, const Index& shape, const std::byte* src, const Index& src_strides,
                   std::byte* dst, const Index& dst_strides, std::size_t item_size,
                   bool swap_bytes = false);

/// Sets a box of elements to one value, given as its bytes.
void fill_elements(int rank, const Index& shape, std::byte* dst, const Index& dst_strides,
                   std::span<const std::byte> value);

/// Whether every element of a contiguous run equals `value`.
bool all_equal(std::span<const std::byte> elements, std::span<const std::byte> value) noexcept;

}  // namespace headrace::zarr
