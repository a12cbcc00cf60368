#pragma once
#include <cstdint>

namespace headrace::loader {

/// Which samples of every batch a loader makes, where several processes share the work: a part of
/// the batch with the bytes that these samples have in the whole one. Reaches no hash.
struct Share {
  std::int64_t first = 0;  ///< sample of the batch
  std::int64_t count = 0;  ///< 0: all from `first` on
};

}  // namespace headrace::loader
