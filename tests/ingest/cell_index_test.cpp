#include "headrace/ingest/cell_index.hpp"

#include <gtest/gtest.h>

namespace headrace::ingest {
namespace {

using Rows = std::vector<std::uint32_t>;

TEST(TissueCells, SumTheTissueOfEachCellAndLeaveEmptyCellsOut) {
  // 5×7 pixels, cells of 4: two rows of two cells.
  Mask tissue(3, 4);  // 2 pixels of level 0 each
  // Covers (4, 6) only: rows 4 to 5 and columns 6 to 7 are cut off at the edge.
  tissue.at(2, 3) = 1;
  tissue.at(0, 0) = 1;
  EXPECT_EQ(tissue_cells(tissue, 2, 5, 7, 4), (Rows{0, 0, 4, 1, 1, 1}));
  EXPECT_TRUE(tissue_cells(Mask(50, 50), 2, 100, 100, 32).empty());
}

TEST(LabelCells, CountTheClassesOfEachCellUpToTheHighestThatOccurs) {
  std::vector<std::uint8_t> labels(35, 0);
  labels[0] = 1;
  labels[6] = 1;                                          // (0, 6)
  for (const int x : {0, 1, 2, 3}) labels[28 + x] = 255;  // (4, 0) to (4, 3): all of a cell
  for (const std::size_t classes : {2, 6}) {
    LabelCells cells(5, 7, 4, classes);
    cells.add({0, 0, 3, 7}, labels.data());
    cells.add({3, 0, 2, 7}, labels.data() + 21);
    EXPECT_EQ(cells.classes_seen(), 2u);
    EXPECT_EQ(cells.rows(), (Rows{0, 0, 15, 1, 0, 1, 11, 1, 1, 1, 3, 0}));
  }
}

TEST(LabelCells, OfNothingHaveNoRows) {
  const std::vector<std::uint8_t> ignored(100, 255);
  LabelCells cells(10, 10, 4, 3);
  cells.add({0, 0, 10, 10}, ignored.data());
  EXPECT_EQ(cells.classes_seen(), 0u);
  EXPECT_TRUE(cells.rows().empty());
}

}  // namespace
}  // namespace headrace::ingest
