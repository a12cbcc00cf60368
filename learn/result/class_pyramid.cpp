#include "learn/result/class_pyramid.hpp"

#include <algorithm>
#include <array>

#include "learn/result/image_result.hpp"

namespace headrace::result {
namespace {

constexpr std::int64_t kSmallest = 512;

/// Of up to four values.
std::uint8_t most_frequent(const std::array<std::uint8_t, 4>& values) {
  if (values[0] == values[1] && values[0] == values[2] && values[0] == values[3]) return values[0];
  std::uint8_t best = kNotPredicted;
  int most = 0;
  for (const std::uint8_t value : values) {
    if (value == kNotPredicted) continue;
    const auto count = static_cast<int>(std::count(values.begin(), values.end(), value));
    if (count > most || (count == most && value > best)) {
      best = value;
      most = count;
    }
  }
  return best;
}

std::vector<std::uint8_t> halved(std::span<const std::uint8_t> upper,
                                 std::span<const std::uint8_t> lower) {
  std::vector<std::uint8_t> out((upper.size() + 1) / 2);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t left = 2 * i, right = std::min(left + 1, upper.size() - 1);
    out[i] = most_frequent({upper[left], upper[right], lower[left], lower[right]});
  }
  return out;
}

}  // namespace

ClassPyramid::ClassPyramid(std::shared_ptr<storage::Store> store, const std::string& path,
                           std::int64_t height, std::int64_t width, ThreadPool* pool) {
  for (std::size_t k = 0;; ++k) {
    BandWriter::Layout layout;
    layout.shape = {height, width};
    layout.fill = kNotPredicted;
    levels_.push_back(
        {std::make_unique<BandWriter>(store, path + "/" + std::to_string(k), layout, pool),
         height,
         width,
         0,
         {}});
    if (std::max(height, width) <= kSmallest) break;
    height = (height + 1) / 2;
    width = (width + 1) / 2;
  }
}

void ClassPyramid::add(std::span<const std::uint8_t> row) { add(0, row); }

void ClassPyramid::add(std::size_t level, std::span<const std::uint8_t> row) {
  Level& own = levels_[level];
  own.writer->add(row);
  ++own.rows;
  if (level + 1 == levels_.size()) return;
  if (own.rows % 2 == 0) {
    add(level + 1, halved(own.upper, row));
  } else if (own.rows == own.height) {
    add(level + 1, halved(row, row));
  } else {
    own.upper.assign(row.begin(), row.end());
  }
}

void ClassPyramid::finish() {
  for (Level& level : levels_) level.writer->finish();
}

}  // namespace headrace::result
