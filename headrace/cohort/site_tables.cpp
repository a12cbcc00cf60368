#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "headrace/cohort/cohort_state.hpp"
#include "headrace/cohort/image_record.hpp"
#include "headrace/cohort/stored_table.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"

namespace headrace::cohort {
namespace {

using Table = detail::StoredTable<std::uint32_t>;

constexpr std::size_t kWords = 8;  ///< of 32 bits, for 256 parts

/// attributes.headrace: edges along the last `axes` axes; a single number where all are equal.
std::array<std::int32_t, 3> edges_of(const Table& table, const char* key, std::size_t axes) {
  std::array<std::int32_t, 3> edges{1, 1, 1};
  const auto values =
      table.attributes.contains(key) && table.attributes.at(key).is_number()
          ? std::vector<std::int32_t>(
                axes, detail::require<std::int32_t>(table.attributes, key, table.origin))
          : detail::require<std::vector<std::int32_t>>(table.attributes, key, table.origin);
  if (values.size() != axes) {
    fail(ErrorCode::malformed, "{}: '{}' has {} numbers, expected {}", table.origin, key,
         values.size(), axes);
  }
  std::copy(values.begin(), values.end(), edges.end() - static_cast<std::ptrdiff_t>(axes));
  return edges;
}

PartGrid grid_of(const Table& table, const char* block_key, std::size_t axes) {
  PartGrid grid{edges_of(table, block_key, axes), edges_of(table, "part", axes)};
  if (grid.valid()) return grid;
  fail(ErrorCode::malformed, "{}: '{}' and 'part' do not cut a block into 256 parts", table.origin,
       block_key);
}

/// A row: place, `facts` numbers, parts.
SiteBlock block_of(const Table& table, std::size_t i, std::size_t axes, std::size_t facts) {
  const std::uint32_t* row = table.row(i);
  SiteBlock block;
  std::copy_n(row, axes, block.place_zyx.end() - static_cast<std::ptrdiff_t>(axes));
  const std::uint32_t* words = row + axes + facts;
  for (std::size_t w = 0; w < block.parts.words.size(); ++w)
    block.parts.words[w] = words[2 * w] | std::uint64_t{words[2 * w + 1]} << 32;
  return block;
}

/// Every set part begins inside the image, and there is one.
void check_inside(const Table& table, std::size_t i, const PartGrid& grid, const SiteBlock& block,
                  const std::array<std::int64_t, 3>& shape) {
  const auto first_inside = [&](std::uint32_t part) {
    const auto first = grid.first_of(part);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (std::int64_t{block.place_zyx[axis]} * grid.block_zyx[axis] + first[axis] >= shape[axis])
        return false;
    }
    return true;
  };
  const std::uint32_t count = block.parts.count();
  bool inside = count > 0 && block.pixels > 0;
  bool whole = true;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    whole =
        whole && (std::int64_t{block.place_zyx[axis]} + 1) * grid.block_zyx[axis] <= shape[axis];
  }
  for (std::uint32_t n = 0; inside && !whole && n < count; ++n)
    inside = first_inside(block.parts.nth(n));
  if (inside) return;
  fail(ErrorCode::malformed, "{}: row {} is block {}, {}, {}, which holds nothing inside the image",
       table.origin, i, block.place_zyx[0], block.place_zyx[1], block.place_zyx[2]);
}

bool in_order(const SiteBlock& a, const SiteBlock& b) {
  return std::tie(a.class_value, a.region, a.place_zyx) <
         std::tie(b.class_value, b.region, b.place_zyx);
}

/// Rearranges stored classes to the mapped ones, in their order, without unknown classes and those
/// mapped to class 0.
void see(SiteIndex& index, const ClassMatch& match) {
  if (match.keeps_values()) return;
  for (SiteBlock& block : index.blocks) block.class_value = match.seen_as[block.class_value];
  index.left_out = std::erase_if(index.blocks, [](const SiteBlock& block) {
                     return block.class_value == kIgnoreLabel;
                   }) > 0;
  std::erase_if(index.blocks, [](const SiteBlock& block) { return block.class_value == 0; });
  std::sort(index.blocks.begin(), index.blocks.end(), in_order);
}

}  // namespace

std::array<std::int64_t, 3> shape_zyx_of(const ImageRecord& record) {
  if (record.volume) return record.volume->levels.front().shape_zyx;
  return {1, record.levels.front().height, record.levels.front().width};
}

SiteIndex Cohort::tissue_sites(std::size_t image) const {
  const ImageRecord& record = state_->images.at(image);
  const std::size_t axes = record.volume ? 3 : 2, columns = axes + 1 + kWords;
  const auto table = detail::read_table<std::uint32_t>(
      state_->store, "index/" + record.id, DType::uint32, columns, columns, "place, amount, parts");
  SiteIndex index;
  index.grid = grid_of(table, record.volume ? "cell_size_zyx" : "cell_size_px", axes);
  for (std::size_t i = 0; i < table.rows; ++i) {
    SiteBlock block = block_of(table, i, axes, 1);
    block.pixels = table.row(i)[axes];
    check_inside(table, i, index.grid, block, shape_zyx_of(record));
    index.blocks.push_back(block);
  }
  return index;
}

SiteIndex Cohort::label_sites(std::size_t image, const std::string& labels) const {
  SiteIndex index;
  const auto group = state_->label_group(image, labels);
  if (!group) return index;
  const ImageRecord& record = state_->images.at(image);
  const std::size_t axes = record.volume ? 3 : 2, columns = axes + 3 + kWords;
  const auto table =
      detail::read_table<std::uint32_t>(state_->store, *group + "/sites", DType::uint32, columns,
                                        columns, "place, class, region, amount, parts");
  index.grid = grid_of(table, "block", axes);
  const std::size_t classes = state_->classes.size() + state_->class_sets.size();
  for (std::size_t i = 0; i < table.rows; ++i) {
    SiteBlock block = block_of(table, i, axes, 3);
    const std::uint32_t* facts = table.row(i) + axes;
    if (facts[0] == 0 || facts[0] >= classes) {
      fail(ErrorCode::malformed, "{}: row {} is of class {}, expected 1 to {}", table.origin, i,
           facts[0], classes - 1);
    }
    block.class_value = static_cast<std::uint8_t>(facts[0]);
    block.region = facts[1];
    block.pixels = facts[2];
    check_inside(table, i, index.grid, block, shape_zyx_of(record));
    index.blocks.push_back(block);
  }
  if (!std::is_sorted(index.blocks.begin(), index.blocks.end(), in_order)) {
    fail(ErrorCode::malformed, "{}: rows are not sorted by class, region and place", table.origin);
  }
  see(index, state_->match);
  return index;
}

}  // namespace headrace::cohort
