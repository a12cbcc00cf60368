#include "headrace/ingest/slide/cell_index.hpp"

#include <gtest/gtest.h>

namespace headrace::ingest {
namespace {

using Rows = std::vector<std::uint32_t>;

TEST(TissueCells, SumTheTissueOfEachCellSayWhereItIsAndLeaveEmptyCellsOut) {
  // 39×55 pixels, cells of 32 in parts of 2: two rows of two cells.
  pixels::Mask fine(20, 28);  // 2 pixels of level 0 each
  fine.at(0, 0) = 1;
  fine.at(19, 27) = 1;  // rows 38 to 39, of which one is there, columns 54 to 55, as well
  // Part (3, 11) of cell (1, 1): bit 59.
  EXPECT_EQ(tissue_cells(fine, 2, 39, 55, 32),
            (Rows{0, 0, 4, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 1u << 27, 0, 0, 0, 0, 0, 0}));
  pixels::Mask coarse(10, 14);
  coarse.at(1, 1) = 1;  // 4 pixels each: four parts, (2, 2) to (3, 3)
  EXPECT_EQ(tissue_cells(coarse, 4, 39, 55, 32),
            (Rows{0, 0, 16, 0, 12u | 12u << 16, 0, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(tissue_cells(pixels::Mask(50, 50), 2, 100, 100, 32).empty());
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
