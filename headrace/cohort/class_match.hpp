#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headrace/core/class_sets.hpp"
#include "headrace/core/ignore_label.hpp"

namespace headrace::cohort {

/// Maps the label values of a store to the classes of a reader (a run, for example), by name: these
/// may have another order, or be more or fewer.
struct ClassMatch {
  /// The reader's value of a stored label value. A class that the reader does not know becomes 255,
  /// ignore: its meaning there is unknown, so it teaches and counts nothing. The same holds for a
  /// set that contains such a class.
  std::array<std::uint8_t, 256> seen_as{};
  /// The values after the reader's classes: the reader's sets, then the store's sets that the
  /// reader does not have, in terms of the reader's classes. Sets are equal if their classes are.
  std::vector<ClassSet> sets;
  std::vector<std::string> ignored;  ///< classes and sets of the store that become 255
  std::vector<std::string> missing;  ///< classes of the reader that the store does not have

  /// For each class of the reader: whether the store lacks it. `seen`: the reader's classes.
  std::vector<bool> lacks(const std::vector<std::string>& seen) const;
  /// Whether every stored value keeps its meaning.
  bool keeps_values() const noexcept;
  /// Turns stored label values into the reader's, in place.
  void apply(std::span<std::uint8_t> labels) const noexcept;
  /// Rearranges columns or counts from stored label values to the reader's; `none` where the store
  /// lacks one. `seen`: the reader's classes and `sets`.
  template <typename T>
  std::vector<T> in_seen_order(std::vector<T> stored, std::size_t seen, const T& none) const {
    std::vector<T> out(seen, none);
    for (std::size_t c = 0; c < stored.size(); ++c) {
      if (seen_as[c] != kIgnoreLabel) out[seen_as[c]] = std::move(stored[c]);
    }
    return out;
  }
};

/// stored: class names by label value; seen: those of the reader; and the sets of both. Names are
/// compared exactly, except for class 0: if the reader has no class of its name, a store's class 0
/// is the reader's class 0, since each means "none of the other classes".
ClassMatch match_classes(const std::vector<std::string>& stored,
                         const std::vector<std::string>& seen,
                         const std::vector<ClassSet>& stored_sets = {},
                         const std::vector<ClassSet>& seen_sets = {});

}  // namespace headrace::cohort
