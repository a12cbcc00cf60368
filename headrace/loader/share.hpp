#pragma once
#include <cstdint>

namespace headrace::loader {

/// Which samples of which batches a loader makes, where several processes share the work, with the
/// bytes that these samples have when one makes all. Reaches no hash.
struct Share {
  std::int64_t first = 0;  ///< sample of the batch
  std::int64_t count = 0;  ///< 0: all from `first` on
  std::int64_t turn = 0;   ///< batches turn, turn + every, … of the run or of the tiles
  std::int64_t every = 1;
};

}  // namespace headrace::loader
