#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/canvas.hpp"

namespace headrace::cli {

inline constexpr int kMargin = 12, kGap = 4, kLine = 18, kLargestCell = 320, kSmallestCell = 160,
                     kPageWidth = 1700;
inline constexpr Rgb kPaper{250, 250, 250}, kInk{40, 40, 48}, kPale{120, 120, 130};

/// The layout of a montage of samples: blocks of `pairs` times two pictures of up to height × width
/// pixels, in as many columns as kPageWidth takes. Pictures are enlarged while their longer edge
/// stays within `smallest` pixels.
struct MontageLayout {
  MontageLayout(std::int64_t height, std::int64_t width, std::int64_t pairs, std::int64_t samples,
                bool legend, std::int64_t smallest = kSmallestCell)
      : shrink(static_cast<int>((std::max(height, width) + kLargestCell - 1) / kLargestCell)),
        enlarge(static_cast<int>(std::max<std::int64_t>(1, smallest / std::max(height, width)))),
        cell_h(height / shrink * enlarge),
        cell_w(width / shrink * enlarge),
        row(cell_h + kLine + kGap),
        pair(2 * cell_w + kGap + kMargin),
        block(pairs * pair),
        rows(rows_of(samples, std::max<std::int64_t>(kPageWidth / block, 1))),
        columns((samples + rows - 1) / rows),
        top(kMargin + kLine * (legend ? 2 : 1)) {}

  std::int64_t page_height() const { return top + rows * row + kMargin; }
  std::int64_t page_width() const { return kMargin + columns * block; }
  std::int64_t x(std::int64_t column, std::int64_t pair_number) const {
    return kMargin + column * block + pair_number * pair;
  }

  static std::int64_t rows_of(std::int64_t samples, std::int64_t columns) {
    return (samples + columns - 1) / columns;
  }

  int shrink, enlarge;
  std::int64_t cell_h, cell_w, row, pair, block, rows, columns, top;
};

/// The colours of the classes but background, in the second line.
void draw_legend(Canvas& canvas, const std::vector<std::string>& classes);

/// Paints the pixels of every class but background that have another class `reach` pixels away.
/// labels: one byte a pixel of `image`.
void outline(pixels::Image8& image, const std::uint8_t* labels, std::int64_t reach);

}  // namespace headrace::cli
