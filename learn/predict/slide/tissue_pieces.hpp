#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "headrace/pixels/bit_volume.hpp"
#include "headrace/pixels/components.hpp"
#include "headrace/pixels/regions/region_tracer.hpp"

namespace headrace::predict {

/// A piece of tissue of a slide: a core, a section.
struct TissuePiece {
  std::int64_t y0 = 0, x0 = 0, y1 = 0, x1 = 0;  ///< box of its cells: rows [y0, y1), columns
                                                ///< [x0, x1) of the map
  std::uint64_t tissue_px = 0, tumour_px = 0;
  std::uint64_t foci = 0;  ///< tumour foci that were added
  /// The square of the greatest distance between two corners of pixels of these foci, in pixels of
  /// the map; 0 without foci.
  std::uint64_t squared_length_px = 0;
};

/// Finds the pieces of tissue of a slide, and how far the tumour reaches in each.
///
/// The map is divided into square cells. A cell is tissue if any of its pixels is, and a piece is a
/// connected part (8 neighbours) of these cells: tissue that is closer than a cell's edge is one
/// piece, and tissue that is farther apart than two edges is not, unless other tissue connects it.
///
/// memory  of each cell one bit, of each run of tissue cells 40 bytes, and the hulls of the foci
class TissuePieces {
 public:
  TissuePieces(std::int64_t height, std::int64_t width, std::int64_t cell_px);

  /// The next row of the map: not 0 is tissue, 2 is tumour too.
  enum Kind : std::uint8_t { none, tissue, tumour };
  void add_row(std::span<const Kind> row);
  /// A connected tumour area, with its outer outline. Its pixels come in rows, before or after.
  void add_focus(const pixels::TracedRegion& focus);
  /// The pieces by their first cell, row by row. No rows may follow.
  std::vector<TissuePiece> finish();

 private:
  struct RunCounts {
    std::uint64_t tissue_px = 0, tumour_px = 0;
  };
  struct Focus {
    std::int64_t cell_y = 0, cell_x = 0;
    std::vector<pixels::Corner> hull;
  };
  void close_cells();
  void add_lengths(const pixels::Components& cells, std::vector<TissuePiece>& pieces);

  std::int64_t height_, width_, cell_, row_ = 0;
  pixels::BitVolume cells_;
  std::vector<RunCounts> open_;  ///< of the cells of the rows since the last whole row of cells
  std::vector<RunCounts> runs_;  ///< of runs of tissue cells, in (y, x) order
  std::vector<Focus> foci_;
};

}  // namespace headrace::predict
