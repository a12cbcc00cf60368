#include "learn/ranks/ordered_all_reduce.hpp"

#include <algorithm>
#include <cstring>

#include "headrace/core/rounding.hpp"

namespace headrace::ranks {
namespace {

/// Number of elements that are added up at a time: their sums stay in the first-level cache, and no
/// two processes write into one cache line.
constexpr std::int64_t kBlock = 4096;

std::size_t values_bytes(std::int64_t parts, std::size_t values) {
  const auto bytes = parts * static_cast<std::int64_t>(values * sizeof(double));
  return static_cast<std::size_t>(round_up(bytes, 64));
}

}  // namespace

void check_parts(std::int64_t parts, int processes) {
  if (processes >= 1 && parts % processes == 0) return;
  std::vector<std::int64_t> fitting;
  for (std::int64_t p = 1; p <= std::min<std::int64_t>(parts, kMaxProcesses); ++p) {
    if (parts % p == 0) fitting.push_back(p);
  }
  fail(ErrorCode::usage,
       "train.gradient_parts is {}, which {} processes can't share equally. Start {} processes, or "
       "set it to a multiple of {} (which gives other weights).",
       parts, processes, fmt::join(fitting, " or "), processes);
}

PartRange parts_of(std::int64_t parts, int rank, int size) {
  const std::int64_t count = parts / size;
  return {rank * count, count};
}

OrderedAllReduce::OrderedAllReduce(ProcessGroup& process_group, std::int64_t parts,
                                   std::size_t elements, std::size_t values, int threads)
    : process_group_(process_group),
      parts_(parts),
      elements_(elements),
      values_(values),
      stride_(static_cast<std::size_t>(round_up(static_cast<std::int64_t>(elements), kBlock))),
      mine_(parts_of(parts, process_group.rank(), process_group.size())),
      all_values_(static_cast<std::size_t>(parts) * values),
      pool_(threads) {
  check_parts(parts, process_group.size());
  const auto rows = static_cast<std::size_t>(parts) + 1;
  memory_ = process_group.share(values_bytes(parts, values) + rows * stride_ * sizeof(float));
}

std::span<float> OrderedAllReduce::elements_of(std::int64_t part) const {
  auto* first = reinterpret_cast<float*>(memory_.bytes().data() + values_bytes(parts_, values_));
  return {first + static_cast<std::size_t>(part) * stride_, elements_};
}

std::span<double> OrderedAllReduce::values(std::int64_t p) const {
  auto* first = reinterpret_cast<double*>(memory_.bytes().data());
  return {first + static_cast<std::size_t>(mine_.first + p) * values_, values_};
}

void OrderedAllReduce::add_block(std::size_t block) const {
  const std::size_t begin = block * kBlock;
  const std::size_t count = std::min<std::size_t>(kBlock, elements_ - begin);
  const float scale = 1.0f / static_cast<float>(parts_);
  float sum[kBlock];
  std::memcpy(sum, elements_of(0).data() + begin, count * sizeof(float));
  for (std::int64_t p = 1; p < parts_; ++p) {
    const float* part = elements_of(p).data() + begin;
    for (std::size_t i = 0; i < count; ++i) sum[i] += part[i];
  }
  float* total = elements_of(parts_).data() + begin;
  for (std::size_t i = 0; i < count; ++i) total[i] = sum[i] * scale;
}

std::vector<std::string> OrderedAllReduce::sum(std::string_view note) {
  auto notes = process_group_.all_gather(note);
  if (!all_values_.empty()) {
    std::memcpy(all_values_.data(), memory_.bytes().data(), all_values_.size() * sizeof(double));
  }
  const auto rank = static_cast<std::size_t>(process_group_.rank());
  const auto size = static_cast<std::size_t>(process_group_.size());
  const std::size_t blocks = stride_ / kBlock;
  const std::size_t first = blocks * rank / size, last = blocks * (rank + 1) / size;
  pool_.parallel_for(last - first, [&](std::size_t b) { add_block(first + b); });
  process_group_.barrier();
  return notes;
}

}  // namespace headrace::ranks
