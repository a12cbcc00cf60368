#pragma once
#include <cstdint>

namespace headrace::inference {

/// Of an image: pixels that several runs predicted, and those of them for which the runs do not all
/// give the same class. Volumes: on the grid of patches.
struct RunAgreement {
  std::uint64_t pixels = 0, disputed = 0;
};

}  // namespace headrace::inference
