#include "headrace/zarr/codec/strided.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace headrace::zarr {
namespace {

// Axes of a copy: longest destination step first, neighbours that form one run merged, length-1
// dropped.
struct Loops {
  int rank = 0;
  Index shape{}, src{}, dst{};
};

Loops plan_loops(int rank, const Index& shape, const Index& src, const Index& dst) {
  std::array<int, kMaxRank> order{};
  int used = 0;
  for (int axis = 0; axis < rank; ++axis) {
    if (shape[axis] != 1) order[used++] = axis;
  }
  std::stable_sort(order.begin(), order.begin() + used,
                   [&](int a, int b) { return std::abs(dst[a]) > std::abs(dst[b]); });
  Loops loops;
  for (int i = 0; i < used; ++i) {
    const int axis = order[i];
    const int last = loops.rank - 1;
    if (loops.rank > 0 && loops.src[last] == src[axis] * shape[axis] &&
        loops.dst[last] == dst[axis] * shape[axis]) {
      loops.shape[last] *= shape[axis];
      loops.src[last] = src[axis];
      loops.dst[last] = dst[axis];
      continue;
    }
    loops.shape[loops.rank] = shape[axis];
    loops.src[loops.rank] = src[axis];
    loops.dst[loops.rank] = dst[axis];
    ++loops.rank;
  }
  if (loops.rank == 0) loops = {1, {1}, {0}, {0}};
  return loops;
}

template <typename Word>
Word reversed(Word word) {
  if constexpr (sizeof(Word) == 2) return __builtin_bswap16(word);
  if constexpr (sizeof(Word) == 4) return __builtin_bswap32(word);
  if constexpr (sizeof(Word) == 8) return __builtin_bswap64(word);
  return word;
}

// memcpy for each element, since neither side need be aligned to its elements.
template <typename Word, bool kSwap>
void copy_run(std::int64_t count, const std::byte* src, std::int64_t src_step, std::byte* dst,
              std::int64_t dst_step) {
  for (std::int64_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, src + i * src_step, sizeof word);
    if constexpr (kSwap) word = reversed(word);
    std::memcpy(dst + i * dst_step, &word, sizeof word);
  }
}

// Rows of a chunk are short, and a call of memcpy costs as much as copying one: from 16 to 64
// bytes, two copies of fixed size that may overlap replace it.
template <std::size_t kPiece>
struct TwoPieces {
  std::size_t size;
  void operator()(std::byte* dst, const std::byte* src) const {
    std::array<std::byte, kPiece> first, last;
    std::memcpy(first.data(), src, kPiece);
    std::memcpy(last.data(), src + size - kPiece, kPiece);
    std::memcpy(dst, first.data(), kPiece);
    std::memcpy(dst + size - kPiece, last.data(), kPiece);
  }
};

using RunFn = void (*)(std::int64_t, const std::byte*, std::int64_t, std::byte*, std::int64_t);

RunFn run_for(std::size_t item_size, bool swap) {
  switch (item_size) {
    case 2:
      return swap ? copy_run<std::uint16_t, true> : copy_run<std::uint16_t, false>;
    case 4:
      return swap ? copy_run<std::uint32_t, true> : copy_run<std::uint32_t, false>;
    case 8:
      return swap ? copy_run<std::uint64_t, true> : copy_run<std::uint64_t, false>;
    default:
      return copy_run<std::uint8_t, false>;
  }
}

// Calls run(offset in src, offset in dst) for each innermost run.
template <typename Run>
void for_each_run(const Loops& loops, const Run& run) {
  Index at{};
  std::int64_t src = 0, dst = 0;
  while (true) {
    run(src, dst);
    int axis = loops.rank - 2;
    for (; axis >= 0; --axis) {
      src += loops.src[axis];
      dst += loops.dst[axis];
      if (++at[axis] < loops.shape[axis]) break;
      src -= loops.src[axis] * loops.shape[axis];
      dst -= loops.dst[axis] * loops.shape[axis];
      at[axis] = 0;
    }
    if (axis < 0) return;
  }
}

}  // namespace

std::int64_t count_elements(int rank, const Index& shape) noexcept {
  std::int64_t count = 1;
  for (int axis = 0; axis < rank; ++axis) count *= std::max<std::int64_t>(shape[axis], 0);
  return count;
}

Index contiguous_strides(int rank, const Index& shape, std::int64_t item_size) noexcept {
  Index strides{};
  std::int64_t step = item_size;
  for (int axis = rank - 1; axis >= 0; --axis) {
    strides[axis] = step;
    step *= shape[axis];
  }
  return strides;
}

void copy_elements(int rank, const Index& shape, const std::byte* src, const Index& src_strides,
                   std::byte* dst, const Index& dst_strides, std::size_t item_size,
                   bool swap_bytes) {
  if (count_elements(rank, shape) == 0) return;
  const Loops loops = plan_loops(rank, shape, src_strides, dst_strides);
  const int inner = loops.rank - 1;
  const std::int64_t count = loops.shape[inner], src_step = loops.src[inner],
                     dst_step = loops.dst[inner];
  const auto size = static_cast<std::int64_t>(item_size);
  const bool swap = swap_bytes && item_size > 1;
  if (!swap && (count == 1 || (src_step == size && dst_step == size))) {
    const auto bytes = static_cast<std::size_t>(count * size);
    const auto each = [&](const auto& copy) {
      for_each_run(loops, [&](std::int64_t s, std::int64_t d) { copy(dst + d, src + s); });
    };
    if (bytes >= 16 && bytes <= 32) {
      each(TwoPieces<16>{bytes});
    } else if (bytes > 32 && bytes <= 64) {
      each(TwoPieces<32>{bytes});
    } else {
      each([&](std::byte* d, const std::byte* s) { std::memcpy(d, s, bytes); });
    }
    return;
  }
  const RunFn run = run_for(item_size, swap);
  for_each_run(loops, [&](std::int64_t s, std::int64_t d) {
    run(count, src + s, src_step, dst + d, dst_step);
  });
}

void fill_elements(int rank, const Index& shape, std::byte* dst, const Index& dst_strides,
                   std::span<const std::byte> value) {
  // A source whose every step is zero is a box of one value.
  const bool same_bytes = std::all_of(value.begin(), value.end(),
                                      [&](std::byte byte) { return byte == value.front(); });
  if (count_elements(rank, shape) == 0) return;
  const Loops loops = plan_loops(rank, shape, dst_strides, dst_strides);
  const int inner = loops.rank - 1;
  if (same_bytes && loops.dst[inner] == static_cast<std::int64_t>(value.size())) {
    const auto bytes = static_cast<std::size_t>(loops.shape[inner]) * value.size();
    for_each_run(loops, [&](std::int64_t, std::int64_t d) {
      std::memset(dst + d, std::to_integer<int>(value.front()), bytes);
    });
    return;
  }
  copy_elements(rank, shape, value.data(), Index{}, dst, dst_strides, value.size());
}

bool all_equal(std::span<const std::byte> elements, std::span<const std::byte> value) noexcept {
  if (elements.empty()) return true;
  // Equal to the value at the front, and each element equal to the one before it.
  return std::memcmp(elements.data(), value.data(), value.size()) == 0 &&
         std::memcmp(elements.data(), elements.data() + value.size(),
                     elements.size() - value.size()) == 0;
}

}  // namespace headrace::zarr
