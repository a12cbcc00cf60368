#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headrace/core/class_sets.hpp"
#include "headrace/core/ignore_label.hpp"

namespace headrace::source {

/// How the label values of a store are seen by somebody who knows other classes, by their names: in
/// another order, or more or fewer of them.
struct ClassMatch {
  /// The value under which a stored label value is seen. A class that the other does not know is
  /// 255, ignore: what it is to him can't be told, so it teaches and counts nothing. So is a set
  /// that holds such a class.
  std::array<std::uint8_t, 256> seen_as{};
  /// What is seen from the number of the other's classes on: his sets, and after them those of the
  /// store that he does not have, of his classes. Sets are the same if their classes are.
  std::vector<ClassSet> sets;
  std::vector<std::string> ignored;  ///< classes and sets of the store that become 255
  std::vector<std::string> missing;  ///< classes of the other that the store does not have

  /// By class of the other: whether the store does not have it. `seen`: the other's classes.
  std::vector<bool> lacks(const std::vector<std::string>& seen) const;
  /// Whether every stored value keeps its meaning.
  bool keeps_values() const noexcept;
  /// Stored label values into those that are seen, in place.
  void apply(std::span<std::uint8_t> labels) const noexcept;
  /// Columns or counts by stored label value, by that which is seen; `none` where the store lacks
  /// it. `seen`: the other's classes and `sets`.
  template <typename T>
  std::vector<T> in_seen_order(std::vector<T> stored, std::size_t seen, const T& none) const {
    std::vector<T> out(seen, none);
    for (std::size_t c = 0; c < stored.size(); ++c) {
      if (seen_as[c] != kIgnoreLabel) out[seen_as[c]] = std::move(stored[c]);
    }
    return out;
  }
};

/// stored: class names by label value; seen: those of the other; and the sets of both. Names are
/// compared as they are, but for class 0: a store's class 0 without a class of its name is the
/// other's class 0, since either is what is none of the further classes.
ClassMatch match_classes(const std::vector<std::string>& stored,
                         const std::vector<std::string>& seen,
                         const std::vector<ClassSet>& stored_sets = {},
                         const std::vector<ClassSet>& seen_sets = {});

}  // namespace headrace::source
