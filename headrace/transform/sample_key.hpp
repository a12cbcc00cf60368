#pragma once
#include <cstdint>

namespace headrace::transform {

/// Identifies a sample; every random number is a pure function of it (Philox counter), the
/// transform's place in the list, and the seed.
struct SampleKey {
  std::uint64_t seed = 0, epoch = 0, index = 0;
};

}  // namespace headrace::transform
