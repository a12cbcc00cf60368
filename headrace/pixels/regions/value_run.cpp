#include "headrace/pixels/regions/value_run.hpp"

#include <cstring>

namespace headrace::pixels {
namespace {

/// Where the run that begins at x ends.
std::int64_t run_end(const std::uint8_t* values, std::int64_t x, std::int64_t width) {
  const std::uint8_t value = values[x];
  const std::uint64_t eight = value * 0x0101010101010101u;
  for (std::uint64_t word = 0; x + 8 <= width; x += 8) {
    std::memcpy(&word, values + x, 8);
    if (word != eight) break;
  }
  while (x < width && values[x] == value) ++x;
  return x;
}

}  // namespace

void find_runs(std::span<const std::uint8_t> values, const std::bitset<256>& traced,
               std::vector<ValueRun>& runs) {
  runs.clear();
  const auto width = static_cast<std::int64_t>(values.size());
  for (std::int64_t x = 0; x < width;) {
    const std::int64_t end = run_end(values.data(), x, width);
    const std::uint8_t first = values[static_cast<std::size_t>(x)];
    const std::int16_t value = traced[first] ? first : kUntraced;
    if (!runs.empty() && runs.back().value == value) {
      runs.back().x1 = static_cast<std::int32_t>(end);  // another value that is not traced
    } else {
      runs.push_back({.x0 = static_cast<std::int32_t>(x),
                      .x1 = static_cast<std::int32_t>(end),
                      .value = value});
    }
    x = end;
  }
}

}  // namespace headrace::pixels
