#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/core/threads.hpp"
#include "learn/ranks/process_group.hpp"

namespace headrace::ranks {

/// Refuses a number of processes that can't share the parts equally. Errors: usage, with the
/// numbers that can.
void check_parts(std::int64_t parts, int processes);

/// The parts of rank `rank` of `size`: [first, first + count).
struct PartRange {
  std::int64_t first = 0, count = 0;
};
PartRange parts_of(std::int64_t parts, int rank, int size);

/// Sums of floats over `parts` parts; every process has the same number of them, in rank order:
///   total[i] = ((part 0 [i] + part 1 [i]) + part 2 [i] + …) · (1 / parts)
/// each operation rounded to float32. The order is that of the parts, so the bits depend neither on
/// the number of processes nor on threads: each process adds up a stretch of the elements over all
/// parts. It takes 4 · (parts + 1) · elements bytes of memory, once for all processes together.
/// threads  one
class OrderedAllReduce {
 public:
  /// Calls a collective. `values`: number of doubles that go with each part. `threads`: number that
  /// add up.
  OrderedAllReduce(ProcessGroup& process_group, std::int64_t parts, std::size_t elements,
                   std::size_t values, int threads);

  PartRange mine() const noexcept { return mine_; }
  /// Memory of this process's part `p` of mine().count, to be filled before each sum().
  std::span<float> part(std::int64_t p) const { return elements_of(mine_.first + p); }
  std::span<double> values(std::int64_t p) const;

  /// Calls two collectives; `note` goes with the first. Afterwards total() and values_of() are
  /// valid until the next call, and parts may be written again.
  std::vector<std::string> sum(std::string_view note = {});
  std::span<const float> total() const { return elements_of(parts_); }
  /// The values of any part.
  std::span<const double> values_of(std::int64_t part) const {
    return std::span(all_values_).subspan(static_cast<std::size_t>(part) * values_, values_);
  }
  /// All memory of part() and total().
  std::span<std::byte> memory() const { return memory_.bytes(); }

 private:
  std::span<float> elements_of(std::int64_t part) const;
  void add_block(std::size_t block) const;

  ProcessGroup& process_group_;
  std::int64_t parts_;
  std::size_t elements_, values_, stride_;
  PartRange mine_;
  std::vector<double> all_values_;  ///< a copy: the others already write the values of the next sum
  ThreadPool pool_;
  SharedMemory memory_;
};

}  // namespace headrace::ranks
