#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "learn/ranks/process_group.hpp"

namespace headrace::ranks {

/// Rows of floats that all processes but the first make for the first one: one each in every round,
/// with a collective at the end of each round.
///
/// Each process has two rows, used in turns, so the others make round m + 1 while the first reads
/// round m; it must have read round m before it comes to the collective of m + 1.
/// threads  one
class GatherRows {
 public:
  /// A collective. `floats`: of the longest row.
  GatherRows(ProcessGroup& process_group, std::size_t floats)
      : rank_(process_group.rank()), floats_(floats) {
    memory_ = process_group.share(2 * static_cast<std::size_t>(process_group.size() - 1) * floats *
                                  sizeof(float));
  }
  /// This process's row, to be filled before the round's collective. Not for the first process.
  std::span<float> mine(std::uint64_t round) const { return of(rank_, round); }
  /// The row of rank `rank`, valid from the round's collective until the next one.
  std::span<float> of(int rank, std::uint64_t round) const {
    const std::size_t row = 2 * static_cast<std::size_t>(rank - 1) + round % 2;
    return {reinterpret_cast<float*>(memory_.bytes().data()) + row * floats_, floats_};
  }
  /// All rows.
  std::span<std::byte> bytes() const noexcept { return memory_.bytes(); }

 private:
  int rank_;
  std::size_t floats_;
  SharedMemory memory_;
};

}  // namespace headrace::ranks
