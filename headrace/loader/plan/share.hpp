#pragma once
#include <cstdint>

namespace headrace::loader {

/// The samples and batches that a loader makes, where several processes share the work. They have
/// the same bytes as when one process makes all. Not part of any hash.
struct Share {
  std::int64_t first = 0;  ///< first sample of the batch
  std::int64_t count = 0;  ///< 0: all from `first` on
  std::int64_t turn = 0;   ///< batches turn, turn + every, … of the run or of the tiles
  std::int64_t every = 1;
};

/// The samples of every batch of `batch` samples that process `rank` of `processes` makes: parts
/// that follow each other, of sizes that differ by at most one.
/// Errors: usage (no such rank; fewer samples than processes).
Share share_of(std::int64_t batch, std::int64_t rank, std::int64_t processes);

}  // namespace headrace::loader
