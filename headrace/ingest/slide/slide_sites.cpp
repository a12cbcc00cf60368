#include "headrace/ingest/slide/slide_sites.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "headrace/core/ignore_label.hpp"
#include "headrace/pixels/components.hpp"

namespace headrace::ingest {
namespace {

std::int64_t pieces(std::int64_t length, std::int64_t piece) {
  return (length + piece - 1) / piece;
}

bool all_alike(const std::uint8_t* values, std::int64_t count) {
  return std::memcmp(values, values + 1, static_cast<std::size_t>(count - 1)) == 0;
}

/// The counts of one box by block and value, made when the value first occurs there.
template <typename Counts>
class BoxCounts {
 public:
  explicit BoxCounts(std::size_t blocks) : of_value_(blocks * 256) {}

  Counts& of(std::size_t block, std::uint8_t value) {
    auto& counts = of_value_[block * 256 + value];
    if (!counts) counts = std::make_unique<Counts>();
    return *counts;
  }
  const Counts* find(std::size_t block, std::size_t value) const {
    return of_value_[block * 256 + value].get();
  }

 private:
  std::vector<std::unique_ptr<Counts>> of_value_;
};

}  // namespace

SlideSites::SlideSites(std::int64_t height, std::int64_t width, std::int64_t cell_px)
    : height_(height), width_(width), grid_(label_part_grid(cell_px)) {}

void SlideSites::add(const Box2& box, const std::uint8_t* labels) {
  const std::int64_t block = grid_.block_zyx[2], part = grid_.part_zyx[2];
  const std::int64_t first_y = box.y0 / block, first_x = box.x0 / block;
  const std::int64_t wide = (box.x0 + box.width - 1) / block - first_x + 1;
  const std::int64_t high = (box.y0 + box.height - 1) / block - first_y + 1;
  BoxCounts<Counts> found(static_cast<std::size_t>(high * wide));
  for (std::int64_t y = box.y0; y < box.y0 + box.height; ++y) {
    const std::uint8_t* line = labels + (y - box.y0) * box.width - box.x0;
    const std::int64_t row = (y / block - first_y) * wide - first_x, py = y % block / part;
    for (std::int64_t x = box.x0; x < box.x0 + box.width;) {
      const std::int64_t end = std::min(box.x0 + box.width, (x / part + 1) * part);
      const auto in_block = static_cast<std::size_t>(row + x / block);
      const std::uint32_t at = grid_.part(0, py, x % block / part);
      if (line[x] == 0 && all_alike(line + x, end - x)) x = end;  // most of a slide
      while (x < end) {
        const std::int64_t from = x;
        const std::uint8_t value = line[x];
        while (x < end && line[x] == value) ++x;
        if (value == 0 || value == kIgnoreLabel) continue;
        found.of(in_block, value)[at] += static_cast<std::uint16_t>(x - from);
      }
    }
  }
  const std::int64_t blocks_x = pieces(width_, block);
  const std::lock_guard lock(mutex_);
  for (std::int64_t i = 0; i < high * wide; ++i) {
    const std::int64_t place = (first_y + i / wide) * blocks_x + first_x + i % wide;
    for (std::size_t value = 1; value < kIgnoreLabel; ++value) {
      const Counts* const counts = found.find(static_cast<std::size_t>(i), value);
      if (counts == nullptr) continue;
      Counts& sum = classes_[static_cast<std::uint8_t>(value)][place];
      for (std::size_t p = 0; p < sum.size(); ++p)
        sum[p] = static_cast<std::uint16_t>(sum[p] + (*counts)[p]);
    }
  }
}

std::vector<cohort::SiteBlock> SlideSites::blocks() const {
  const std::int64_t block = grid_.block_zyx[2], along = grid_.parts_along(2);
  const std::int64_t blocks_x = pieces(width_, block);
  SiteRows rows(grid_, {1, height_, width_});
  for (const auto& [value, blocks] : classes_) {
    pixels::BitVolume mask({1, pieces(height_, block) * along, blocks_x * along});
    for (const auto& [place, counts] : blocks) {
      for (std::int64_t p = 0; p < 256; ++p) {
        const std::int64_t x = place % blocks_x * along + p % along;
        if (counts[static_cast<std::size_t>(p)] > 0)
          mask.row(0, place / blocks_x * along + p / along)[x >> 6] |= std::uint64_t{1} << (x & 63);
      }
    }
    for (const pixels::Run& run :
         pixels::find_components(mask, pixels::Neighbours::everything).runs) {
      const std::int64_t y = run.y / along;
      const Counts* counts = nullptr;
      for (std::int64_t x = run.x0; x < run.x1; ++x) {
        if (x == run.x0 || x % along == 0) counts = &blocks.at(y * blocks_x + x / along);
        const std::uint32_t part = grid_.part(0, run.y % along, x % along);
        rows.add({0, y, x / along}, part, value, run.component, (*counts)[part]);
      }
    }
  }
  return rows.blocks();
}

}  // namespace headrace::ingest
