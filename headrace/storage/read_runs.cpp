#include "headrace/storage/read_runs.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>

#include "headrace/core/error.hpp"
#include "headrace/storage/run_requests.hpp"

namespace headrace::storage {

ReadRuns read_runs(const Object& object, std::span<const ByteRun> runs) {
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return runs[a].offset < runs[b].offset; });
  const RequestCost cost = object.cost();
  std::vector<ByteRun> reads;
  std::vector<std::size_t> read_of(runs.size());
  for (const std::size_t i : order) {
    const ByteRun& run = runs[i];
    if (run.count == 0) continue;
    const bool joins =
        !reads.empty() &&
        run.offset <= reads.back().offset + reads.back().count + cost.merge_gap_bytes &&
        run.offset + run.count - reads.back().offset <= cost.largest_read_bytes;
    if (!joins) reads.push_back(run);
    ByteRun& read = reads.back();
    read.count = std::max(read.count, run.offset + run.count - read.offset);
    read_of[i] = reads.size() - 1;
  }
  ReadRuns out;
  out.reads_.resize(reads.size());
  for (std::size_t i = 0; i < reads.size(); ++i) out.reads_[i].resize(reads[i].count);
  std::mutex mutex;
  std::map<std::size_t, Error> failed;
  run_requests(
      nullptr, reads.size(), [&](std::size_t) { return cost.asynchronous; },
      [&](std::size_t i, const ReadDone& done) {
        object.start_read(reads[i].offset, out.reads_[i], done);
      },
      [&](std::size_t i, const Error& error) {
        const std::lock_guard lock(mutex);
        failed.emplace(i, error);
      });
  if (!failed.empty()) throw failed.begin()->second;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const ByteRun& run = runs[i];
    out.runs_.push_back(run.count == 0
                            ? std::span<const std::byte>()
                            : std::span<const std::byte>(out.reads_[read_of[i]])
                                  .subspan(run.offset - reads[read_of[i]].offset, run.count));
  }
  return out;
}

}  // namespace headrace::storage
