#include "headrace/ingest/store/site_rows.hpp"

#include <algorithm>
#include <span>
#include <tuple>

#include "headrace/ingest/store/small_array.hpp"

namespace headrace::ingest {
namespace {

constexpr std::int32_t kVolumeBlock = 16, kPartsAlong = 16;

cohort::PartGrid square_grid(std::int64_t block_px) {
  const auto block = static_cast<std::int32_t>(block_px);
  return {{1, block, block}, {1, block / kPartsAlong, block / kPartsAlong}};
}

}  // namespace

cohort::PartGrid volume_part_grid(const std::array<double, 3>& spacing_mm_zyx) {
  cohort::PartGrid grid{{kVolumeBlock, kVolumeBlock, kVolumeBlock}, {4, 4, 4}};
  const auto thick = std::max_element(spacing_mm_zyx.begin(), spacing_mm_zyx.end());
  grid.part_zyx[static_cast<std::size_t>(thick - spacing_mm_zyx.begin())] = 1;
  return grid;
}

cohort::PartGrid tissue_part_grid(std::int64_t cell_px) { return square_grid(cell_px); }
cohort::PartGrid label_part_grid(std::int64_t cell_px) { return square_grid(cell_px / 2); }

SiteRows::SiteRows(const cohort::PartGrid& grid, const std::array<std::int64_t, 3>& shape_zyx)
    : grid_(grid) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    blocks_zyx_[axis] = (shape_zyx[axis] + grid.block_zyx[axis] - 1) / grid.block_zyx[axis];
  first_.resize(static_cast<std::size_t>(blocks_zyx_[0] * blocks_zyx_[1] * blocks_zyx_[2]));
}

void SiteRows::add(const std::array<std::int64_t, 3>& place, std::uint32_t part,
                   std::uint8_t class_value, std::uint32_t region, std::uint32_t pixels) {
  std::uint32_t& head = first_[static_cast<std::size_t>(
      (place[0] * blocks_zyx_[1] + place[1]) * blocks_zyx_[2] + place[2])];
  std::uint32_t at = head;
  const auto is_other = [&](const cohort::SiteBlock& block) {
    return block.region != region || block.class_value != class_value;
  };
  while (at != 0 && is_other(entries_[at - 1].block)) at = entries_[at - 1].next;
  if (at == 0) {
    Entry entry{{}, head};
    for (std::size_t axis = 0; axis < 3; ++axis)
      entry.block.place_zyx[axis] = static_cast<std::uint32_t>(place[axis]);
    entry.block.class_value = class_value;
    entry.block.region = region;
    entries_.push_back(entry);
    at = head = static_cast<std::uint32_t>(entries_.size());
  }
  cohort::SiteBlock& block = entries_[at - 1].block;
  block.pixels += pixels;
  block.parts.set(part);
}

void SiteRows::add_run(std::int64_t z, std::int64_t y, std::int64_t x0, std::int64_t x1,
                       std::uint8_t class_value, std::uint32_t region) {
  const auto& [block, part] = grid_;
  const std::int64_t pz = z % block[0] / part[0], py = y % block[1] / part[1];
  for (std::int64_t x = x0; x < x1;) {
    const std::int64_t end = std::min(x1, (x / part[2] + 1) * part[2]);
    add({z / block[0], y / block[1], x / block[2]}, grid_.part(pz, py, x % block[2] / part[2]),
        class_value, region, static_cast<std::uint32_t>(end - x));
    x = end;
  }
}

std::vector<cohort::SiteBlock> SiteRows::blocks() const {
  std::vector<cohort::SiteBlock> blocks;
  blocks.reserve(entries_.size());
  for (const Entry& entry : entries_) blocks.push_back(entry.block);
  std::sort(blocks.begin(), blocks.end(),
            [](const cohort::SiteBlock& a, const cohort::SiteBlock& b) {
              return std::tie(a.class_value, a.region, a.place_zyx) <
                     std::tie(b.class_value, b.region, b.place_zyx);
            });
  return blocks;
}

void append_parts(const cohort::PartBits& parts, std::vector<std::uint32_t>& row) {
  for (const std::uint64_t word : parts.words) {
    row.push_back(static_cast<std::uint32_t>(word));
    row.push_back(static_cast<std::uint32_t>(word >> 32));
  }
}

void write_sites(storage::Store& store, const std::string& group, const cohort::PartGrid& grid,
                 std::size_t axes, const std::vector<cohort::SiteBlock>& blocks) {
  std::vector<std::uint32_t> rows;
  const std::size_t columns = axes + 3 + 8;
  rows.reserve(blocks.size() * columns);
  for (const cohort::SiteBlock& block : blocks) {
    for (std::size_t axis = 3 - axes; axis < 3; ++axis) rows.push_back(block.place_zyx[axis]);
    rows.insert(rows.end(), {block.class_value, block.region, block.pixels});
    append_parts(block.parts, rows);
  }
  const auto edges = [&](const std::array<std::int32_t, 3>& zyx) {
    return std::vector<std::int32_t>(zyx.end() - static_cast<std::ptrdiff_t>(axes), zyx.end());
  };
  write_small_array(store, group + "/sites",
                    {static_cast<std::int64_t>(blocks.size()), static_cast<std::int64_t>(columns)},
                    DType::uint32, {},
                    {{"block", edges(grid.block_zyx)}, {"part", edges(grid.part_zyx)}},
                    std::as_bytes(std::span(rows)));
}

}  // namespace headrace::ingest
