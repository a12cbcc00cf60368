#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "headrace/core/class_sets.hpp"
#include "learn/measure/slide/object_counts.hpp"

namespace headrace::measure {

/// Connected components (8 neighbours) of a picture that comes row by row. Components that meet
/// further down become one; `root` gives its number.
class RowComponents {
 public:
  struct Run {
    std::size_t begin = 0, end = 0;  ///< pixels [begin, end) of the row
    std::uint32_t id = 0;
  };

  /// `inside`: not 0 inside the picture's structures. The row's runs, left to right, stay valid
  /// until the next row.
  const std::vector<Run>& row(std::span<const std::uint8_t> inside);
  std::uint32_t root(std::uint32_t id);
  std::size_t ids() const noexcept { return parent_.size(); }

 private:
  std::uint32_t joined(std::uint32_t a, std::uint32_t b);

  std::vector<std::uint32_t> parent_;
  std::vector<Run> above_, runs_;
};

/// Matches the structures of a picture, its connected components (8 neighbours), with those
/// predicted, row by row.
///
/// A structure and a predicted one match when their intersection over union is more than 1/2, so
/// each has at most one partner (Kirillov et al. 2019). Where the truth is undecided, predicted
/// pixels are removed from their structure; a predicted structure with more than half of its pixels
/// there is not counted as invented.
/// memory  a few rows, and some 20 bytes for each structure or branch of one, but not the picture's
///         pixels
class ObjectMatcher {
 public:
  /// The next row. truth: Membership of each pixel; predicted: not 0 is inside.
  void row(std::span<const Membership> truth, std::span<const std::uint8_t> predicted);
  /// Returns the counts of all rows since the beginning or the last call, and starts again.
  ObjectCounts finish();

 private:
  using Ids = std::pair<std::uint32_t, std::uint32_t>;  ///< of a true and a predicted structure

  void overlaps(const std::vector<RowComponents::Run>& truth,
                const std::vector<RowComponents::Run>& predicted);

  RowComponents truth_, predicted_;
  std::vector<std::uint64_t> truth_px_, predicted_px_, undecided_px_;  ///< by id
  std::map<Ids, std::uint64_t> overlap_px_;
  std::vector<std::uint8_t> inside_;
};

}  // namespace headrace::measure
