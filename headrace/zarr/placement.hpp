#pragma once
#include <cstdint>

#include "headrace/math/hd.hpp"

namespace headrace::zarr {

/// Where the elements of one box of a decoded chunk lie and where they go: the work that remains
/// when the streams of a batch have been decompressed. A plain struct, so that a table of them can
/// be copied to a GPU; the functions below are the same for both.
///
/// Axes are those of the stored chunk, slowest first, without those of one element; axes that are
/// contiguous on both sides are merged.
struct Placement {
  /// copy: as they are. bytes, bits: a block of `block_bytes` (the last one: what is left) was
  /// shuffled by bytes of `typesize`, or by bits of 16-bit elements (codec/blosc_filter.hpp).
  /// fill: every element is `value`.
  enum class Kind : std::uint8_t { copy, bytes, bits, fill };
  static constexpr int kAxes = 4;
  static constexpr int kRun = 8;  ///< elements of a unit

  Kind kind = Kind::copy;
  std::uint8_t item = 1;       ///< bytes of an element
  std::uint8_t packed = 0;     ///< 1: the chunk lies among the encoded bytes, as stored
  std::uint8_t groups = 0;     ///< 1: a unit is an aligned group of 8 elements under `bits`
  std::uint32_t typesize = 1;  ///< of the byte shuffle
  std::uint32_t block_bytes = 1, chunk_bytes = 0;
  std::int64_t source = 0;       ///< byte 0 of the chunk; may lie before the buffer
  std::int64_t destination = 0;  ///< the box's first element, in bytes
  std::int64_t value = 0;        ///< of `fill`: the element's bytes
  std::uint32_t first = 0;       ///< the box's first element, in the chunk
  std::uint32_t units_per_row = 0;
  std::int32_t shape[kAxes] = {1, 1, 1, 1};
  std::int32_t source_step[kAxes] = {};       ///< in elements
  std::int64_t destination_step[kAxes] = {};  ///< in bytes

  /// Calls of place_unit.
  HR_HD std::int32_t units() const noexcept {
    return static_cast<std::int32_t>(units_per_row) * shape[0] * shape[1] * shape[2];
  }
};

namespace detail {

struct PlacementBlock {
  std::uint32_t begin, size;
};

HR_HD PlacementBlock block_of(const Placement& p, std::uint32_t at) {
  const std::uint32_t begin = at / p.block_bytes * p.block_bytes;
  const std::uint32_t left = p.chunk_bytes - begin;
  return {begin, left < p.block_bytes ? left : p.block_bytes};
}

// Byte `at` of the chunk.
HR_HD std::uint8_t unfiltered_byte(const Placement& p, const std::uint8_t* chunk,
                                   std::uint32_t at) {
  if (p.kind == Placement::Kind::copy) return chunk[at];
  const PlacementBlock block = block_of(p, at);
  const std::uint8_t* src = chunk + block.begin;
  const std::uint32_t in = at - block.begin;
  if (p.kind == Placement::Kind::bytes) {
    const std::uint32_t count = block.size / p.typesize, element = in / p.typesize;
    return element < count ? src[(in - element * p.typesize) * count + element] : src[in];
  }
  const std::uint32_t count = block.size / 2, element = in / 2;
  if (count % 8 != 0 || element >= count) return src[in];
  std::uint32_t byte = 0;
  for (std::uint32_t bit = 0; bit < 8; ++bit) {
    const std::uint32_t plane = in % 2 * 8 + bit;
    byte |= (src[plane * (count / 8) + element / 8] >> element % 8 & 1U) << bit;
  }
  return static_cast<std::uint8_t>(byte);
}

// Bit k of byte j becomes bit j of byte k (H. S. Warren, Hacker's Delight, 7-3).
HR_HD std::uint64_t transpose8(std::uint64_t x) {
  std::uint64_t t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aaULL;
  x = x ^ t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000cccc0000ccccULL;
  x = x ^ t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0ULL;
  return x ^ t ^ (t << 28);
}

// Eight 16-bit elements from byte `group` of the planes of a block; writes those in [from, to).
HR_HD void place_group(const Placement& p, const std::uint8_t* chunk, std::uint32_t group,
                       std::uint32_t from, std::uint32_t to, std::uint8_t* dst) {
  const PlacementBlock block = block_of(p, 16 * group);
  const std::uint32_t step = block.size / 16;
  const std::uint8_t* src = chunk + block.begin + (16 * group - block.begin) / 16;
  std::uint64_t low = 0, high = 0;
  for (int plane = 0; plane < 8; ++plane) {
    low |= std::uint64_t{src[plane * step]} << 8 * plane;
    high |= std::uint64_t{src[(8 + plane) * step]} << 8 * plane;
  }
  low = transpose8(low);
  high = transpose8(high);
  for (std::uint32_t element = from; element < to; ++element) {
    const std::uint32_t shift = 8 * (element % 8);
    dst[0] = static_cast<std::uint8_t>(low >> shift);
    dst[1] = static_cast<std::uint8_t>(high >> shift);
    dst += p.destination_step[Placement::kAxes - 1];
  }
}

}  // namespace detail

/// Places up to kRun elements of one row. bytes: the buffer that `source` counts from; out: the one
/// of `destination`. Units write to separate places, so they may run in any order, on any thread.
HR_HD void place_unit(const Placement& p, const std::uint8_t* bytes, std::uint8_t* out,
                      std::int32_t unit) {
  constexpr int kInner = Placement::kAxes - 1;
  std::uint32_t row = static_cast<std::uint32_t>(unit) / p.units_per_row;
  const std::uint32_t part = static_cast<std::uint32_t>(unit) - row * p.units_per_row;
  std::uint32_t element = p.first;
  std::uint8_t* dst = out + p.destination;
  for (int axis = kInner - 1; axis >= 0; --axis) {
    const auto edge = static_cast<std::uint32_t>(p.shape[axis]);
    const std::uint32_t at = row % edge;
    row /= edge;
    element += at * static_cast<std::uint32_t>(p.source_step[axis]);
    dst += static_cast<std::int64_t>(at) * p.destination_step[axis];
  }
  const std::uint8_t* chunk = bytes + p.source;
  const auto count = static_cast<std::uint32_t>(p.shape[kInner]);
  if (p.groups != 0) {
    const std::uint32_t group = element / 8 + part;
    const std::uint32_t from = 8 * group < element ? element : 8 * group;
    const std::uint32_t end = element + count;
    const std::uint32_t to = end < 8 * group + 8 ? end : 8 * group + 8;
    if (from >= to) return;
    dst += static_cast<std::int64_t>(from - element) * p.destination_step[kInner];
    detail::place_group(p, chunk, group, from, to, dst);
    return;
  }
  const std::uint32_t begin = part * Placement::kRun;
  const std::uint32_t end = begin + Placement::kRun < count ? begin + Placement::kRun : count;
  const auto step = static_cast<std::uint32_t>(p.source_step[kInner]);
  for (std::uint32_t i = begin; i < end; ++i) {
    std::uint8_t* to = dst + static_cast<std::int64_t>(i) * p.destination_step[kInner];
    const std::uint32_t at = (element + i * step) * p.item;
    for (std::uint32_t byte = 0; byte < p.item; ++byte) {
      to[byte] = p.kind == Placement::Kind::fill ? static_cast<std::uint8_t>(p.value >> 8 * byte)
                                                 : detail::unfiltered_byte(p, chunk, at + byte);
    }
  }
}

}  // namespace headrace::zarr
