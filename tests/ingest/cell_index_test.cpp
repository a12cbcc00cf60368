#include "headrace/ingest/cell_index.hpp"

#include <gtest/gtest.h>

namespace headrace::ingest {
namespace {

TEST(CellCounts, CountsClassesAndTissueOfEachCellAndLeavesEmptyCellsOut) {
  // 5×7 pixels, cells of 4: two rows of two cells.
  CellCounts cells(5, 7, 4, 2);
  std::vector<std::uint8_t> labels(35, 0);
  labels[0] = 1;
  labels[6] = 1;     // (0, 6)
  labels[28] = 255;  // (4, 0): ignored
  cells.add_labels({0, 0, 3, 7}, labels.data());
  cells.add_labels({3, 0, 2, 7}, labels.data() + 21);
  Mask tissue(3, 4);  // 2 pixels of level 0 each
  tissue.at(2, 3) =
      1;  // covers (4, 6) only: rows 4 to 5 and columns 6 to 7 are cut off at the edge
  tissue.at(0, 0) = 1;
  cells.add_tissue(tissue, 2);
  const std::vector<std::uint32_t> expected{0, 0, 4, 15, 1, 0, 1, 0, 11, 1, 1, 1, 1, 3, 0};
  EXPECT_EQ(cells.rows(), expected);
  EXPECT_EQ(cells.class_px(), (std::vector<std::uint64_t>{32, 2}));
}

TEST(CellCounts, OfNothingHasNoRows) {
  CellCounts cells(100, 100, 32, 3);
  cells.add_tissue(Mask(50, 50), 2);
  EXPECT_TRUE(cells.rows().empty());
}

}  // namespace
}  // namespace headrace::ingest
