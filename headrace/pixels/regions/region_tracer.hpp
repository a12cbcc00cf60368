#pragma once
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace headrace::pixels {

/// A corner of pixels: (0, 0) is the top left corner of pixel (0, 0).
struct Corner {
  std::int32_t x = 0, y = 0;
  bool operator==(const Corner&) const = default;
};

/// A connected part (4 neighbours) of the pixels of one value.
struct TracedRegion {
  std::uint8_t value = 0;
  std::uint64_t pixels = 0;
  std::int64_t first_y = 0, first_x = 0;        ///< its first pixel, row by row
  std::int64_t y0 = 0, x0 = 0, y1 = 0, x1 = 0;  ///< its box: rows [y0, y1), columns [x0, x1)
  std::array<std::uint64_t, 2> doubled_yx{};    ///< sums of 2·(index + 0.5) over its pixels
  std::vector<std::uint64_t> sums;              ///< by channel: sums of the scores of its pixels
  /// Closed outlines without the repeated first corner; only corners where the direction changes.
  /// The first is the outer one, its corners in clockwise order as seen on the screen (y down);
  /// the others are holes, counterclockwise. They are the edges of a valid polygon (OGC): no ring
  /// crosses or touches itself, rings touch each other in single points at most. Empty without
  /// outlines.
  std::vector<std::vector<Corner>> rings;
};

/// Finds the regions of an image, and their outlines, row by row from the top.
///
/// A region is given as soon as no later row can belong to it, those that end in the same row by
/// their first pixel; so the order depends on the image alone.
///
/// memory  a few rows; of each region that is not finished its sums and outlines so far
/// speed   one pass; time grows with the pixels where the value changes
class RegionTracer {
 public:
  using Sink = std::function<void(TracedRegion&&)>;

  /// traced: the values whose regions are given. channels: number of scores of a pixel.
  /// Errors: internal (width not in 1 … 2^31 - 2).
  RegionTracer(std::int64_t width, const std::bitset<256>& traced, std::size_t channels,
               bool outlines, Sink sink);
  ~RegionTracer();

  /// The next row: values (width) and scores (channels, width). Errors: internal (another size,
  /// after finish, over 2^31 - 2 rows), memory (over 2^32 - 1 corners of unfinished regions).
  void add(std::span<const std::uint8_t> values, std::span<const std::uint8_t> scores);
  /// Gives the regions that are left. No rows may follow.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headrace::pixels
