#include "headrace/zarr/codec/blosc_filter.hpp"

#include <algorithm>
#include <cstring>

#include "headrace/zarr/codec/bit_shuffle.hpp"

namespace headrace::zarr {
namespace {

template <std::size_t kSize>
void unshuffle_words(std::size_t count, const std::byte* __restrict src,
                     std::byte* __restrict dst) {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < kSize; ++j) dst[i * kSize + j] = src[j * count + i];
  }
}

template <std::size_t kSize>
void shuffle_words(std::size_t count, const std::byte* __restrict src, std::byte* __restrict dst) {
  for (std::size_t j = 0; j < kSize; ++j) {
    for (std::size_t i = 0; i < count; ++i) dst[j * count + i] = src[i * kSize + j];
  }
}

void unshuffle(std::size_t typesize, std::size_t size, const std::byte* src, std::byte* dst) {
  const std::size_t count = size / typesize;
  if (typesize == 2) {
    unshuffle_words<2>(count, src, dst);
  } else if (typesize == 4) {
    unshuffle_words<4>(count, src, dst);
  } else if (typesize == 8) {
    unshuffle_words<8>(count, src, dst);
  } else {
    for (std::size_t j = 0; j < typesize; ++j) {
      for (std::size_t i = 0; i < count; ++i) dst[i * typesize + j] = src[j * count + i];
    }
  }
  std::memcpy(dst + count * typesize, src + count * typesize, size - count * typesize);
}

void shuffle(std::size_t typesize, std::size_t size, const std::byte* src, std::byte* dst) {
  const std::size_t count = size / typesize;
  if (typesize == 2) {
    shuffle_words<2>(count, src, dst);
  } else if (typesize == 4) {
    shuffle_words<4>(count, src, dst);
  } else if (typesize == 8) {
    shuffle_words<8>(count, src, dst);
  } else {
    for (std::size_t j = 0; j < typesize; ++j) {
      for (std::size_t i = 0; i < count; ++i) dst[j * count + i] = src[i * typesize + j];
    }
  }
  std::memcpy(dst + count * typesize, src + count * typesize, size - count * typesize);
}

}  // namespace

void apply_filter(BloscFilter filter, std::size_t typesize, std::size_t size, const std::byte* src,
                  std::byte* dst) {
  const std::size_t bits = size / 16 * 16;
  if (filter == BloscFilter::bytes) {
    shuffle(typesize, size, src, dst);
  } else if (filter == BloscFilter::bits && size / 2 % 8 == 0) {
    bit_shuffle16(src, size / 2, dst);
    std::memcpy(dst + bits, src + bits, size - bits);
  } else {
    std::memcpy(dst, src, size);
  }
}

void undo_filter(BloscFilter filter, std::size_t typesize, std::size_t size, const std::byte* src,
                 std::size_t begin, std::size_t end, std::byte* dst) {
  const std::size_t bits = size / 16 * 16;
  if (filter == BloscFilter::bytes) {
    unshuffle(typesize, size, src, dst);
  } else if (filter == BloscFilter::bits && size / 2 % 8 == 0) {
    const std::size_t first = begin / 16 * 16, last = std::min(bits, (end + 15) / 16 * 16);
    if (first < last) bit_unshuffle16(src, size / 2, first / 2, last / 2, dst + first);
    std::memcpy(dst + bits, src + bits, size - bits);
  } else {
    std::memcpy(dst + begin, src + begin, end - begin);
  }
}

}  // namespace headrace::zarr
