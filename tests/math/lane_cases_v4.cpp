// Compiled for AVX-512: only called where the CPU has it.
#include "tests/math/lane_cases.hpp"

namespace headrace::math::fixtures {

void try_sixteen_lanes(const LaneInput& in, LaneOutput& out) { try_lanes<v16f>(in, 0, out); }

void try_groups(const float* sixteen, std::uint32_t* blocks, float* columns, float* back) {
  put(blocks, Memory<v16f>::index_of_groups(24));
  Memory<v16f>::store_groups(columns, Memory<v16f>::load(sixteen));
  Memory<v16f>::store(back, Memory<v16f>::load_groups(columns));
}

void load_sixteen_shorts(const void* p, int count, std::int16_t* out) {
  put(out, Memory<v16f>::load_shorts(p, count));
}
void load_sixteen_floats(const float* p, int count, float* out) {
  Memory<v16f>::store(out, Memory<v16f>::load_part(p, count));
}

}  // namespace headrace::math::fixtures
