#include "learn/handover/dicom/slide_tiles.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "headrace/core/rounding.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::handover {
namespace {

constexpr std::size_t kTileBytes = kSlideTile * kSlideTile / 8;

/// A row of tiles: all rows of the map that it covers, and beyond the edge what was not predicted.
class TileRow {
 public:
  explicit TileRow(const imaging::LabelLevel& map)
      : map_(map),
        columns_(round_up(map.width, kSlideTile) / kSlideTile),
        values_(static_cast<std::size_t>(kSlideTile * columns_ * kSlideTile)) {}

  std::int64_t rows() const { return round_up(map_.height, kSlideTile) / kSlideTile; }
  std::int64_t columns() const { return columns_; }

  void read(std::int64_t row) {
    std::fill(values_.begin(), values_.end(), result::kNotPredicted);
    const std::int64_t y0 = row * kSlideTile;
    map_.render(y0, 0, std::min(kSlideTile, map_.height - y0), map_.width, values_.data(),
                columns_ * kSlideTile);
  }

  std::span<const std::uint8_t> line(std::int64_t column, std::int64_t y) const {
    const std::int64_t first = (y * columns_ + column) * kSlideTile;
    return {values_.data() + first, static_cast<std::size_t>(kSlideTile)};
  }

 private:
  const imaging::LabelLevel& map_;
  std::int64_t columns_;
  std::vector<std::uint8_t> values_;
};

std::array<bool, 256> values_in(const TileRow& row, std::int64_t column) {
  std::array<bool, 256> present{};
  for (std::int64_t y = 0; y < kSlideTile; ++y)
    for (const std::uint8_t value : row.line(column, y)) present[value] = true;
  return present;
}

void put_tile(const TileRow& row, std::int64_t column, std::uint8_t value,
              std::span<std::uint8_t> bytes) {
  std::size_t at = 0;  // pixels so far
  for (std::int64_t y = 0; y < kSlideTile; ++y) {
    for (const std::uint8_t pixel : row.line(column, y)) {
      const unsigned bit = pixel == value;
      bytes[at >> 3] = static_cast<std::uint8_t>(bytes[at >> 3] | bit << (at & 7));
      ++at;
    }
  }
}

}  // namespace

std::vector<SlideTile> slide_tiles(const imaging::LabelLevel& map,
                                   std::span<const Segment> segments) {
  std::vector<SlideTile> tiles;
  TileRow row(map);
  for (std::int64_t r = 0; r < row.rows(); ++r) {
    row.read(r);
    for (std::int64_t c = 0; c < row.columns(); ++c) {
      const auto present = values_in(row, c);
      for (std::size_t s = 0; s < segments.size(); ++s)
        if (present[segments[s].value]) tiles.push_back({s, r, c});
    }
  }
  if (tiles.empty()) tiles.emplace_back();
  std::sort(tiles.begin(), tiles.end(), [](const SlideTile& a, const SlideTile& b) {
    return std::tie(a.segment, a.row, a.column) < std::tie(b.segment, b.row, b.column);
  });
  return tiles;
}

std::uint64_t slide_tile_bytes(std::size_t tiles) { return tiles * kTileBytes; }

void fill_slide_tiles(const imaging::LabelLevel& map, std::span<const Segment> segments,
                      const std::vector<SlideTile>& tiles, std::span<std::uint8_t> bytes) {
  std::fill(bytes.begin(), bytes.end(), std::uint8_t{0});
  std::map<std::int64_t, std::vector<std::size_t>> by_row;  // frames
  for (std::size_t i = 0; i < tiles.size(); ++i) by_row[tiles[i].row].push_back(i);
  TileRow row(map);
  for (const auto& [number, frames] : by_row) {
    row.read(number);
    for (const std::size_t i : frames) {
      put_tile(row, tiles[i].column, segments[tiles[i].segment].value,
               bytes.subspan(i * kTileBytes, kTileBytes));
    }
  }
}

}  // namespace headrace::handover
