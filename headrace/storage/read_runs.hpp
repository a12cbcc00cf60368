#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headrace/storage/store.hpp"

namespace headrace::storage {

/// Bytes of an object that are wanted.
struct ByteRun {
  std::uint64_t offset = 0, count = 0;
};

/// The bytes of runs, in the memory of the reads that brought them.
class ReadRuns {
 public:
  std::span<const std::byte> of(std::size_t run) const noexcept { return runs_[run]; }

 private:
  friend ReadRuns read_runs(const Object&, std::span<const ByteRun>);
  std::vector<std::vector<std::byte>> reads_;
  std::vector<std::span<const std::byte>> runs_;
};

/// Reads the runs, in any order and number, by as few reads as the object's cost() makes worth it,
/// all under way at once where reads are requests. Errors: as Object::read, of the first read.
/// threads   any, also workers of a pool
ReadRuns read_runs(const Object& object, std::span<const ByteRun> runs);

}  // namespace headrace::storage
