#pragma once
#include "headrace/math/lane.hpp"

namespace headrace::math::fixtures {

/// What operations of a lane type are tried on, and what they give, number by number: the same of
/// eight lanes and of sixteen.
struct LaneInput {
  float a[16], b[16];
  std::int32_t offsets[16];  ///< bytes from 0 to sizeof memory - 8
  std::uint8_t memory[96];
  std::int16_t shorts[2][16], factors[2];
  int count, bits;  ///< of 16 numbers those that are loaded and stored; of a shift
};
struct LaneOutput {
  float larger[16], smaller[16], root[16], chosen[16], part[16], stored[16], first[16], second[16];
  std::int32_t whole[16], gathered[16], pixel[2][16];
  std::uint32_t high[16], low[16];
  std::int16_t sums[16], loaded[16];
  std::uint8_t bytes[16];
};

template <typename T, typename Lanes>
HR_HD void put(T* to, Lanes x) {
  __builtin_memcpy(to, &x, sizeof x);
}
template <typename Lanes, typename T>
HR_HD Lanes taken(const T* from) {
  Lanes x;
  __builtin_memcpy(&x, from, sizeof x);
  return x;
}

/// Of numbers [at, at + lanes). Nothing of the standard library, as in a CPU driver.
template <typename F>
HR_HD void try_lanes(const LaneInput& in, int at, LaneOutput& out) {
  using M = Memory<F>;
  using I = IntOf<F>;
  const F a = M::load(in.a + at), b = M::load(in.b + at);
  M::store(out.larger + at, max_of(a, b));
  M::store(out.smaller + at, min_of(a, b));
  M::store(out.root + at, sqrt_of(max_of(a, M::splat(0.0f))));
  M::store(out.chosen + at, select(a > b, b, a));
  put(out.whole + at, to_int(max_of(min_of(a, M::splat(1e6f)), M::splat(-1e6f))));
  const I offset = taken<I>(in.offsets + at);
  put(out.gathered + at, gather32(in.memory, offset));
  I p[2];
  gather_rgb_pair(in.memory, offset, p[0], p[1]);
  for (int i = 0; i < 2; ++i) put(out.pixel[i] + at, p[i] & 0xFFFFFF);
  F x, y;
  gather_pair(in.a, offset & 7, x, y);
  M::store(out.first + at, x);
  M::store(out.second + at, y);
  UintOf<F> high, low;
  multiply_wide(as_unsigned(bits_of(a)), 0xD2511F53u, high, low);
  put(out.high + at, high);
  put(out.low + at, low);
  M::store(out.part + at, M::load_part(in.a + at, in.count - at));
  store_part(out.stored + at, a, in.count - at);
  store_part(out.bytes + at, to_bytes(taken<I>(in.offsets + at)), in.count - at);
  using S = ShortsOf<F>;
  auto sums = ProductSums<S>::splat(1 << 14);
  sums.add(M::load_shorts(in.shorts[0] + at, 16 - at), M::load_shorts(in.shorts[1] + at, 16 - at),
           in.factors);
  store_part(out.sums + at, sums.shifted(in.bits), in.count - at);
  put(out.loaded + at, M::load_shorts(in.shorts[0] + at, 16 - at));
}

}  // namespace headrace::math::fixtures
