#include <gtest/gtest.h>

#include <bitset>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "learn/predict/slide/feret.hpp"
#include "learn/predict/slide/tissue_pieces.hpp"

namespace headrace::predict {
namespace {

/// ' ' no tissue, 't' tissue, 'X' tumour.
using Picture = std::vector<std::string>;

std::vector<TissuePiece> pieces_of(const Picture& picture, std::int64_t cell) {
  const auto width = static_cast<std::int64_t>(picture.front().size());
  TissuePieces pieces(static_cast<std::int64_t>(picture.size()), width, cell);
  pixels::RegionTracer foci(width, std::bitset<256>{2}, 0, true,
                            [&](pixels::TracedRegion&& focus) { pieces.add_focus(focus); });
  for (const std::string& line : picture) {
    std::vector<TissuePieces::Kind> kinds;
    std::vector<std::uint8_t> tumour;
    for (const char c : line) {
      kinds.push_back(c == 'X'   ? TissuePieces::tumour
                      : c == 't' ? TissuePieces::tissue
                                 : TissuePieces::none);
      tumour.push_back(c == 'X' ? 1 : 0);
    }
    pieces.add_row(kinds);
    foci.add(tumour, {});
  }
  foci.finish();
  return pieces.finish();
}

TEST(TissuePieces, AreConnectedCells) {
  // Cells of 2 x 2 pixels. Those at (0, 0) and (1, 1) touch at a corner; the cell at (0, 3) has an
  // empty one on each side.
  const Picture picture{"t     X ",  //
                        "        ",  //
                        "  t     ",  //
                        "  XX    ",  //
                        "t       "};
  const auto pieces = pieces_of(picture, 2);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0].tissue_px, 5u);
  EXPECT_EQ(pieces[0].tumour_px, 2u);
  EXPECT_EQ(pieces[0].foci, 1u);
  EXPECT_EQ(pieces[0].y0, 0);
  EXPECT_EQ(pieces[0].x0, 0);
  EXPECT_EQ(pieces[0].y1, 5);  // the last row of cells is not whole
  EXPECT_EQ(pieces[0].x1, 4);
  EXPECT_EQ(pieces[1].tissue_px, 1u);
  EXPECT_EQ(pieces[1].x0, 6);
  EXPECT_EQ(pieces[1].x1, 8);
  EXPECT_EQ(pieces_of(picture, 4).size(), 1u);
}

TEST(TissuePieces, NoTissueAndNoRows) {
  EXPECT_TRUE(pieces_of({"   ", "   "}, 2).empty());
  TissuePieces none(100, 100, 16);
  EXPECT_TRUE(none.finish().empty());
}

TEST(TissuePieces, LengthIsBetweenCornersOfPixels) {
  const auto one = pieces_of({"X"}, 16);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].squared_length_px, 2u);
  // Two foci of one piece: from (0, 0) to the far corner of pixel (2, 4), 3² + 5².
  const auto two = pieces_of({"Xtttt",  //
                              "tttt ",  //
                              "ttttX"},
                             1);
  ASSERT_EQ(two.size(), 1u);
  EXPECT_EQ(two[0].foci, 2u);
  EXPECT_EQ(two[0].squared_length_px, 34u);
}

using Cell = std::pair<std::int64_t, std::int64_t>;

/// The points that are connected with `start` through `points`.
std::set<Cell> connected(const std::set<Cell>& points, const Cell& start) {
  std::set<Cell> found{start};
  std::vector<Cell> open{start};
  while (!open.empty()) {
    const auto [y, x] = open.back();
    open.pop_back();
    for (std::int64_t dy = -1; dy <= 1; ++dy) {
      for (std::int64_t dx = -1; dx <= 1; ++dx) {
        const Cell next{y + dy, x + dx};
        if (points.count(next) > 0 && found.insert(next).second) open.push_back(next);
      }
    }
  }
  return found;
}

TEST(TissuePieces, AsFoundByFloodFill) {
  std::uint32_t state = 7;
  for (int round = 0; round < 30; ++round) {
    const std::int64_t cell = 1 + round % 5;
    Picture picture(37, std::string(83, ' '));
    std::set<Cell> cells;
    for (std::int64_t y = 0; y < 37; ++y) {
      for (std::int64_t x = 0; x < 83; ++x) {
        const std::uint32_t draw = (state = state * 1664525 + 1013904223) >> 22;
        if (draw >= 60) continue;
        picture[y][x] = draw < 15 ? 'X' : 't';
        cells.insert({y / cell, x / cell});
      }
    }
    const auto pieces = pieces_of(picture, cell);
    for (const TissuePiece& piece : pieces) {
      ASSERT_FALSE(cells.empty());
      const auto own = connected(cells, *cells.begin());
      std::uint64_t tissue = 0, tumour = 0;
      std::vector<pixels::Corner> corners;
      for (std::int32_t y = 0; y < 37; ++y) {
        for (std::int32_t x = 0; x < 83; ++x) {
          if (picture[y][x] == ' ' || own.count({y / cell, x / cell}) == 0) continue;
          ++tissue;
          if (picture[y][x] != 'X') continue;
          ++tumour;
          for (const std::int32_t k : {0, 1, 2, 3}) corners.push_back({x + k % 2, y + k / 2});
        }
      }
      EXPECT_EQ(piece.tissue_px, tissue);
      EXPECT_EQ(piece.tumour_px, tumour);
      EXPECT_EQ(piece.squared_length_px, squared_diameter(corners));
      for (const Cell& done : own) cells.erase(done);
    }
    EXPECT_TRUE(cells.empty());
  }
}

}  // namespace
}  // namespace headrace::predict
