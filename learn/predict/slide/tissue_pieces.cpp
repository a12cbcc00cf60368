#include "learn/predict/slide/tissue_pieces.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "learn/predict/slide/feret.hpp"

namespace headrace::predict {
namespace {

std::int64_t cells_in(std::int64_t pixels, std::int64_t cell) { return (pixels + cell - 1) / cell; }

}  // namespace

TissuePieces::TissuePieces(std::int64_t height, std::int64_t width, std::int64_t cell_px)
    : height_(height),
      width_(width),
      cell_(cell_px),
      cells_({1, cells_in(height, cell_px), cells_in(width, cell_px)}),
      open_(static_cast<std::size_t>(cells_in(width, cell_px))) {}

void TissuePieces::add_row(std::span<const Kind> row) {
  std::size_t x = 0;
  for (RunCounts& cell : open_) {
    const std::size_t end = std::min(row.size(), x + static_cast<std::size_t>(cell_));
    for (; x < end; ++x) {
      cell.tissue_px += row[x] != none ? 1 : 0;
      cell.tumour_px += row[x] == tumour ? 1 : 0;
    }
  }
  if (++row_ % cell_ == 0) close_cells();
}

void TissuePieces::close_cells() {
  std::uint64_t* bits = cells_.row(0, (row_ - 1) / cell_);
  bool inside = false;
  for (std::size_t x = 0; x < open_.size(); ++x) {
    const RunCounts cell = std::exchange(open_[x], {});
    const bool before = std::exchange(inside, cell.tissue_px > 0);
    if (!inside) continue;
    bits[x >> 6] |= std::uint64_t{1} << (x & 63);
    if (!before) runs_.emplace_back();
    runs_.back().tissue_px += cell.tissue_px;
    runs_.back().tumour_px += cell.tumour_px;
  }
}

void TissuePieces::add_focus(const pixels::TracedRegion& focus) {
  foci_.push_back({focus.first_y / cell_, focus.first_x / cell_, convex_hull(focus.rings.front())});
}

void TissuePieces::add_lengths(const pixels::Components& cells, std::vector<TissuePiece>& pieces) {
  std::vector<std::vector<pixels::Corner>> corners(pieces.size());
  for (const Focus& focus : foci_) {
    // The last run that does not begin after the focus's cell holds it.
    const auto after = std::upper_bound(
        cells.runs.begin(), cells.runs.end(), focus, [](const Focus& at, const pixels::Run& run) {
          return std::tuple(at.cell_y, at.cell_x) <
                 std::tuple(std::int64_t{run.y}, std::int64_t{run.x0});
        });
    const std::size_t piece = std::prev(after)->component;
    corners[piece].insert(corners[piece].end(), focus.hull.begin(), focus.hull.end());
    ++pieces[piece].foci;
  }
  for (std::size_t i = 0; i < pieces.size(); ++i)
    pieces[i].squared_length_px = squared_diameter(convex_hull(std::move(corners[i])));
}

std::vector<TissuePiece> TissuePieces::finish() {
  if (row_ % cell_ != 0) close_cells();
  const pixels::Components cells = find_components(cells_, pixels::Neighbours::everything);
  std::vector<TissuePiece> pieces(cells.sizes.size(), TissuePiece{height_, width_});
  for (std::size_t i = 0; i < cells.runs.size(); ++i) {
    const pixels::Run& run = cells.runs[i];
    TissuePiece& piece = pieces[run.component];
    piece.y0 = std::min(piece.y0, run.y * cell_);
    piece.x0 = std::min(piece.x0, run.x0 * cell_);
    piece.y1 = std::max(piece.y1, std::min(height_, (run.y + 1) * cell_));
    piece.x1 = std::max(piece.x1, std::min(width_, run.x1 * cell_));
    piece.tissue_px += runs_[i].tissue_px;
    piece.tumour_px += runs_[i].tumour_px;
  }
  add_lengths(cells, pieces);
  return pieces;
}

}  // namespace headrace::predict
