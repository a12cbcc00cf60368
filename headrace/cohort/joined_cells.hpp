#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "headrace/cohort/stored_table.hpp"

namespace headrace::cohort::detail {

/// The sampler's index of an image, which joins two tables: that of its pixels (`index/<id>`:
/// place, tissue) and that of one of its label images (`index` below the label's group: place,
/// pixels of each class). D axes, slowest first.
template <std::size_t D>
struct JoinedCells {
  std::vector<std::array<std::uint32_t, D>> place;
  std::vector<std::uint32_t> tissue;
  std::vector<std::vector<std::uint32_t>> of_class;  ///< [class][cell]

  explicit JoinedCells(std::size_t classes) : of_class(classes) {}

  void add(const std::uint32_t* at, std::uint32_t tissue_px, const std::uint32_t* counts,
           std::size_t known) {
    std::copy_n(at, D, place.emplace_back().begin());
    tissue.push_back(tissue_px);
    for (std::size_t c = 0; c < of_class.size(); ++c)
      of_class[c].push_back(c < known ? counts[c] : 0);
  }
};

/// Cells with tissue or with a class above 0, in the order of their places, as in both tables. A
/// label's table has no columns for classes above the highest that occurs in it.
template <std::size_t D>
JoinedCells<D> join_cells(const StoredTable<std::uint32_t>& tissue,
                          const std::optional<StoredTable<std::uint32_t>>& labels,
                          std::size_t classes) {
  JoinedCells<D> joined(classes);
  const std::size_t known = labels ? labels->columns - D : 0, labelled = labels ? labels->rows : 0;
  const auto before = [](const std::uint32_t* a, const std::uint32_t* b) {
    return std::lexicographical_compare(a, a + D, b, b + D);
  };
  std::size_t at = 0;
  const auto add_labels_before = [&](const std::uint32_t* end) {
    for (; at < labelled && (end == nullptr || before(labels->row(at), end)); ++at) {
      const std::uint32_t* row = labels->row(at);
      const bool counts = known > 1 && std::any_of(row + D + 1, row + D + known,
                                                   [](std::uint32_t n) { return n > 0; });
      if (counts) joined.add(row, 0, row + D, known);
    }
  };
  for (std::size_t i = 0; i < tissue.rows; ++i) {
    const std::uint32_t* row = tissue.row(i);
    add_labels_before(row);
    const bool both = at < labelled && !before(row, labels->row(at));
    joined.add(row, row[D], both ? labels->row(at) + D : nullptr, both ? known : 0);
    if (both) ++at;
  }
  add_labels_before(nullptr);
  return joined;
}

}  // namespace headrace::cohort::detail
