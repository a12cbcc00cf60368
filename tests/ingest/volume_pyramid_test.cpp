#include "headrace/ingest/volume/volume_pyramid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "headrace/core/error.hpp"
#include "headrace/ingest/volume/volume_cells.hpp"
#include "headrace/zarr/defaults.hpp"

namespace headrace::ingest {
namespace {

using Voxels = std::vector<std::int16_t>;

imaging::VolumeGrid grid_of(const Shape3& shape_zyx, const std::array<double, 3>& spacing_zyx) {
  return imaging::VolumeGrid::of(shape_zyx, {spacing_zyx[2], spacing_zyx[1], spacing_zyx[0]},
                                 {0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
}

Voxels halved(const Voxels& src, const Shape3& from, const Shape3& step, ThreadPool& pool) {
  VolumeLevelPlan a{from, {1, 1, 1}}, b{from, step};
  for (std::size_t i = 0; i < 3; ++i) b.shape_zyx[i] = (from[i] + step[i] - 1) / step[i];
  Voxels out(static_cast<std::size_t>(voxels_of(b.shape_zyx)));
  halve_volume(src.data(), a, b, out.data(), pool);
  return out;
}

TEST(VolumePlan, ThickSlicesHalveWhenTheOthersHaveCaughtUp) {
  // In the plane to 3.2 mm, of which 5 is 1.56 times, and so to 6.4; that is 1.28 times 5, so from
  // there on all axes go together.
  const VolumePlan plan = plan_volume(grid_of({200, 512, 512}, {5, 0.8, 0.8}), {});
  std::vector<Shape3> factors;
  for (const auto& level : plan.levels) factors.push_back(level.factor_zyx);
  EXPECT_EQ(factors, (std::vector<Shape3>{
                         {1, 1, 1}, {1, 2, 2}, {1, 4, 4}, {1, 8, 8}, {2, 16, 16}, {4, 32, 32}}));
  EXPECT_EQ(plan.levels.back().shape_zyx, (Shape3{50, 16, 16}));
}

TEST(VolumePlan, EndsAt64AndRoundsUp) {
  const VolumePlan plan = plan_volume(grid_of({129, 65, 64}, {1, 1, 1}), {});
  ASSERT_EQ(plan.levels.size(), 3u);
  EXPECT_EQ(plan.levels[1].shape_zyx, (Shape3{65, 33, 32}));
  EXPECT_EQ(plan.levels[2].shape_zyx, (Shape3{33, 17, 16}));
  EXPECT_EQ(plan_volume(grid_of({64, 64, 64}, {1, 1, 1}), {}).levels.size(), 1u);
}

TEST(VolumePlan, ShardsOfSmallLevelsAreNoLargerThanTheLevel) {
  const VolumePlan plan = plan_volume(grid_of({50, 300, 64}, {1, 1, 1}), {});
  const auto array = plan.image_array(0);
  const std::int64_t inner = zarr::kVolumeInnerEdge;
  EXPECT_EQ(array.chunk_shape,
            (std::vector<std::int64_t>{(50 + inner - 1) / inner * inner, zarr::kVolumeShardEdge,
                                       (64 + inner - 1) / inner * inner}));
  EXPECT_EQ(array.fill_value, (std::vector<std::byte>{std::byte{0x00}, std::byte{0xFC}}));  // -1024
}

TEST(VolumePlan, RefusesOddChunks) {
  VolumeIngestOptions options;
  for (const auto& [chunk, shard] : {std::pair{12, 0}, std::pair{264, 0}, std::pair{32, 100},
                                     std::pair{32, 16}, std::pair{64, 1088}, std::pair{-8, 0}}) {
    options.chunk = chunk;
    options.shard = shard;
    EXPECT_THROW(check_volume_chunks(options), Error) << chunk << " " << shard;
  }
}

TEST(HalveVolume, RoundsHalvesUpAlsoBelowZero) {
  ThreadPool pool(1);
  // Pairs along x: 0.5 → 1, -0.5 → 0, -1.5 → -1, and the last one alone.
  EXPECT_EQ(halved({0, 1, -1, 0, -2, -1, -7}, {1, 1, 7}, {1, 1, 2}, pool), (Voxels{1, 0, -1, -7}));
  // Eight voxels of sum 4: 0.5 → 1; of sum -4: -0.5 → 0; of sum -5: -0.625 → -1.
  EXPECT_EQ(halved({4, 0, 0, 0, 0, 0, 0, 0}, {2, 2, 2}, {2, 2, 2}, pool), (Voxels{1}));
  EXPECT_EQ(halved({-4, 0, 0, 0, 0, 0, 0, 0}, {2, 2, 2}, {2, 2, 2}, pool), (Voxels{0}));
  EXPECT_EQ(halved({-5, 0, 0, 0, 0, 0, 0, 0}, {2, 2, 2}, {2, 2, 2}, pool), (Voxels{-1}));
}

TEST(HalveVolume, HoldsTheWholeRangeOfValues) {
  ThreadPool pool(1);
  EXPECT_EQ(halved(Voxels(8, -32768), {2, 2, 2}, {2, 2, 2}, pool), (Voxels{-32768}));
  EXPECT_EQ(halved(Voxels(8, 32767), {2, 2, 2}, {2, 2, 2}, pool), (Voxels{32767}));
}

TEST(HalveVolume, IsThePlainModelForEveryAxisAndOddEdges) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> edge(1, 9), value(-32768, 32767), step(1, 2);
  ThreadPool pool(3);
  for (int trial = 0; trial < 200; ++trial) {
    const Shape3 from{edge(random), edge(random), edge(random)};
    const Shape3 by{step(random), step(random), step(random)};
    Voxels src(static_cast<std::size_t>(voxels_of(from)));
    for (auto& v : src) v = static_cast<std::int16_t>(value(random));
    const Voxels out = halved(src, from, by, pool);
    std::size_t at = 0;
    for (std::int64_t z = 0; z < from[0]; z += by[0]) {
      for (std::int64_t y = 0; y < from[1]; y += by[1]) {
        for (std::int64_t x = 0; x < from[2]; x += by[2], ++at) {
          double sum = 0, count = 0;
          for (std::int64_t k = z; k < std::min(from[0], z + by[0]); ++k) {
            for (std::int64_t j = y; j < std::min(from[1], y + by[1]); ++j) {
              for (std::int64_t i = x; i < std::min(from[2], x + by[2]); ++i, ++count) {
                sum += src[static_cast<std::size_t>((k * from[1] + j) * from[2] + i)];
              }
            }
          }
          ASSERT_EQ(out[at], std::floor(sum / count + 0.5)) << "voxel " << at;
        }
      }
    }
    ASSERT_EQ(at, out.size());
  }
}

TEST(PickLabels, TakesTheCentreAndStaysInside) {
  ThreadPool pool(2);
  const std::vector<std::uint8_t> row{1, 2, 3, 4, 5};
  std::vector<std::uint8_t> out(2);
  pick_labels(row.data(), {1, 1, 5}, {{1, 1, 2}, {1, 1, 4}}, 0, 1, out.data(), pool);
  EXPECT_EQ(out, (std::vector<std::uint8_t>{3, 5}));  // min(2, 4), min(6, 4)
  out.resize(3);
  pick_labels(row.data(), {5, 1, 1}, {{3, 1, 1}, {2, 1, 1}}, 0, 3, out.data(), pool);
  EXPECT_EQ(out, (std::vector<std::uint8_t>{2, 4, 5}));
  out.resize(1);
  pick_labels(row.data(), {5, 1, 1}, {{3, 1, 1}, {2, 1, 1}}, 1, 1, out.data(), pool);
  EXPECT_EQ(out, (std::vector<std::uint8_t>{4}));
}

TEST(CountCells, IsThePlainCount) {
  const Shape3 shape{35, 17, 83};
  std::mt19937 random(11);
  pixels::BitVolume body(shape);
  std::vector<std::uint8_t> labels(static_cast<std::size_t>(voxels_of(shape)));
  constexpr std::size_t kClasses = 3;
  std::map<std::array<std::int64_t, 3>, std::array<std::uint32_t, 1 + kClasses>> expected;
  const cohort::PartGrid grid{{16, 16, 16}, {4, 1, 4}};
  std::map<std::array<std::int64_t, 3>, std::array<std::uint32_t, 8>> parts;
  for (std::int64_t z = 0; z < shape[0]; ++z) {
    for (std::int64_t y = 0; y < shape[1]; ++y) {
      for (std::int64_t x = 0; x < shape[2]; ++x) {
        auto& cell = expected[{z / 16, y / 16, x / 16}];
        // Cells of the middle columns stay without body, some of them with a class.
        const bool inside = (x < 20 || x > 70) && random() % 3 == 0;
        if (inside) body.row(z, y)[x >> 6] |= std::uint64_t{1} << (x & 63);
        const auto value = static_cast<std::uint8_t>(random() % 9 == 0 ? 255
                                                     : x < 45          ? random() % kClasses
                                                                       : 0);
        labels[static_cast<std::size_t>((z * shape[1] + y) * shape[2] + x)] = value;
        cell[0] += inside;
        const std::int64_t part = (z % 16 / 4 * 16 + y % 16) * 4 + x % 16 / 4;
        if (inside) parts[{z / 16, y / 16, x / 16}][part / 32] |= 1u << part % 32;
        if (value < kClasses) ++cell[1 + value];
      }
    }
  }
  std::vector<std::uint32_t> body_rows, label_rows;
  for (const auto& [at, counts] : expected) {
    const auto add = [&](auto& to, auto begin, auto end) {
      for (const std::int64_t i : at) to.push_back(static_cast<std::uint32_t>(i));
      to.insert(to.end(), begin, end);
    };
    if (counts[0] > 0) {
      add(body_rows, counts.begin(), counts.begin() + 1);
      body_rows.insert(body_rows.end(), parts.at(at).begin(), parts.at(at).end());
    }
    if (counts[1] + counts[2] + counts[3] > 0) add(label_rows, counts.begin() + 1, counts.end());
  }
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    EXPECT_EQ(count_body_cells(body, grid, pool), body_rows);
    // Of five classes three occur, and so do the columns.
    for (const std::size_t classes : {kClasses, kClasses + 2}) {
      const LabelCellRows found = count_label_cells(labels.data(), shape, classes, pool);
      EXPECT_EQ(found.rows, label_rows);
      EXPECT_EQ(found.columns, 3 + kClasses);
    }
  }
  EXPECT_LT(body_rows.size(), expected.size() * 12) << "no cell was left out";
}

}  // namespace
}  // namespace headrace::ingest
