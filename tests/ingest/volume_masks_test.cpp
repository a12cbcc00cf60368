// Masks, components and statistics of volumes against plain loops over voxels, and the body of a
// real scan.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>

#include "headrace/imaging/volume/label_volume.hpp"
#include "headrace/ingest/volume/body_mask.hpp"
#include "headrace/ingest/volume/intensity_histogram.hpp"
#include "headrace/ingest/volume/lesion_table.hpp"
#include "headrace/pixels/components.hpp"

namespace headrace::ingest {
namespace {

using Shape = std::array<std::int64_t, 3>;

/// A linear congruential generator (Knuth's MMIX constants): the same numbers everywhere.
struct Numbers {
  std::uint64_t state;
  std::uint32_t next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state >> 33);
  }
};

std::vector<std::uint16_t> random_labels(const Shape& shape, std::uint64_t seed, int percent) {
  Numbers numbers{seed};
  std::vector<std::uint16_t> labels(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
  for (auto& label : labels) label = static_cast<int>(numbers.next() % 100) < percent ? 1 : 0;
  return labels;
}

pixels::BitVolume bits_of(const std::vector<std::uint16_t>& labels, const Shape& shape) {
  pixels::BitVolume mask(shape);
  std::vector<std::int16_t> slice(static_cast<std::size_t>(shape[1] * shape[2]));
  for (std::int64_t z = 0; z < shape[0]; ++z) {
    for (std::size_t i = 0; i < slice.size(); ++i)
      slice[i] = static_cast<std::int16_t>(labels[z * slice.size() + i]);
    pixels::threshold_slice(slice.data(), 0, z, mask);
  }
  return mask;
}

/// Component of each voxel by flood fill, numbered by first voxel; -1 where there is none.
std::vector<int> flood(const std::vector<std::uint16_t>& labels, const Shape& shape, bool all) {
  std::vector<int> component(labels.size(), -1);
  int count = 0;
  const auto at = [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    return (z * shape[1] + y) * shape[2] + x;
  };
  for (std::size_t start = 0; start < labels.size(); ++start) {
    if (labels[start] == 0 || component[start] >= 0) continue;
    std::deque<std::int64_t> open{static_cast<std::int64_t>(start)};
    component[start] = count;
    while (!open.empty()) {
      const std::int64_t i = open.front();
      open.pop_front();
      const std::int64_t x = i % shape[2], y = i / shape[2] % shape[1], z = i / shape[2] / shape[1];
      for (int n = 0; n < 27; ++n) {
        const int dx = n % 3 - 1, dy = n / 3 % 3 - 1, dz = n / 9 - 1;
        if (!all && std::abs(dx) + std::abs(dy) + std::abs(dz) != 1) continue;
        const std::int64_t nz = z + dz, ny = y + dy, nx = x + dx;
        if (nz < 0 || ny < 0 || nx < 0 || nz >= shape[0] || ny >= shape[1] || nx >= shape[2])
          continue;
        const std::int64_t j = at(nz, ny, nx);
        if (labels[j] == 0 || component[j] >= 0) continue;
        component[j] = count;
        open.push_back(j);
      }
    }
    ++count;
  }
  return component;
}

TEST(VolumeComponents, EqualAFloodFill) {
  for (const Shape shape : {Shape{5, 9, 130}, Shape{7, 6, 64}, Shape{3, 4, 63}, Shape{1, 1, 1}}) {
    for (const int percent : {8, 25, 45, 90}) {
      for (const bool all : {false, true}) {
        const auto labels = random_labels(shape, 11 + percent, percent);
        const auto expected = flood(labels, shape, all);
        const auto found =
            pixels::find_components(bits_of(labels, shape), all ? pixels::Neighbours::everything
                                                                : pixels::Neighbours::faces);
        std::vector<int> component(labels.size(), -1);
        for (const pixels::Run& run : found.runs) {
          for (std::int32_t x = run.x0; x < run.x1; ++x) {
            component[(run.z * shape[1] + run.y) * shape[2] + x] = static_cast<int>(run.component);
          }
        }
        ASSERT_EQ(component, expected) << percent << " percent, all " << all;
        for (std::size_t i = 0; i < found.sizes.size(); ++i) {
          ASSERT_EQ(found.sizes[i],
                    static_cast<std::uint64_t>(std::count(expected.begin(), expected.end(), i)));
        }
      }
    }
  }
}

TEST(BitVolume, ErosionAndDilationEqualAPlainLoop) {
  for (const Shape shape : {Shape{2, 20, 130}, Shape{1, 9, 64}, Shape{2, 5, 7}}) {
    for (const auto& [ry, rx] : {std::pair{0, 0}, {1, 2}, {3, 1}, {2, 16}}) {
      for (const bool erode : {true, false}) {
        const auto labels = random_labels(shape, 5, erode ? 93 : 6);
        const pixels::BitVolume mask = bits_of(labels, shape);
        const pixels::BitVolume out =
            erode ? pixels::erode_slices(mask, ry, rx) : pixels::dilate_slices(mask, ry, rx);
        for (std::int64_t z = 0; z < shape[0]; ++z) {
          for (std::int64_t y = 0; y < shape[1]; ++y) {
            for (std::int64_t x = 0; x < shape[2]; ++x) {
              bool expected = erode;
              for (std::int64_t ny = std::max<std::int64_t>(0, y - ry);
                   ny <= std::min(shape[1] - 1, y + ry); ++ny) {
                for (std::int64_t nx = std::max<std::int64_t>(0, x - rx);
                     nx <= std::min(shape[2] - 1, x + rx); ++nx) {
                  const bool set = mask.get(z, ny, nx);
                  expected = erode ? expected && set : expected || set;
                }
              }
              ASSERT_EQ(out.get(z, y, x), expected) << erode << " " << z << " " << y << " " << x;
            }
          }
        }
      }
    }
  }
}

TEST(IntensityHistogram, EqualsSortingTheValues) {
  Numbers numbers{3};
  std::vector<double> values;
  IntensityHistogram whole, half;
  for (int i = 0; i < 1001; ++i) {
    const auto value = static_cast<std::int16_t>(static_cast<int>(numbers.next() % 4000) - 1024);
    values.push_back(value);
    (i % 3 == 0 ? half : whole).add(value);
  }
  whole.merge(half);
  std::sort(values.begin(), values.end());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  for (const double value : values) squares += (value - sum / 1001) * (value - sum / 1001);
  EXPECT_EQ(whole.count(), 1001u);
  EXPECT_DOUBLE_EQ(whole.mean(), sum / 1001);
  EXPECT_NEAR(whole.std(), std::sqrt(squares / 1001), 1e-9);
  for (const double percent : {0.0, 0.5, 5.0, 33.3, 50.0, 99.5, 100.0}) {
    const double place = percent / 100 * 1000;
    const auto low = static_cast<std::size_t>(place);
    const double high = values[std::min<std::size_t>(low + 1, 1000)];
    EXPECT_NEAR(whole.percentile(percent), values[low] + (high - values[low]) * (place - low), 1e-9)
        << percent;
  }
  EXPECT_EQ(IntensityHistogram().percentile(50), 0);
}

TEST(LesionTable, HasEachBallWithItsPlaceAndVolume) {
  const Shape shape{30, 50, 70};
  const auto grid =
      imaging::VolumeGrid::of(shape, {0.8, 0.8, 2.5}, {-10, -20, 30}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  std::vector<std::uint16_t> labels(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
  const auto ball = [&](int cz, int cy, int cx, int r, std::uint16_t value) {
    std::uint64_t count = 0;
    for (int z = cz - r; z <= cz + r; ++z) {
      for (int y = cy - r; y <= cy + r; ++y) {
        for (int x = cx - r; x <= cx + r; ++x) {
          if ((z - cz) * (z - cz) + (y - cy) * (y - cy) + (x - cx) * (x - cx) > r * r) continue;
          labels[(z * shape[1] + y) * shape[2] + x] = value;
          ++count;
        }
      }
    }
    return count;
  };
  const std::uint64_t first = ball(8, 10, 12, 5, 2), second = ball(20, 30, 50, 4, 2),
                      other = ball(20, 10, 60, 3, 3);
  labels[0] = 255;
  const std::uint64_t organ = ball(20, 30, 10, 6, 1);
  SiteRows sites(volume_part_grid(grid.spacing_mm_zyx()), shape);
  const auto lesions = find_lesions(labels.data(), grid, {2, 3}, sites);
  ASSERT_EQ(lesions.size(), 3u);
  EXPECT_EQ(lesions[0].voxels, first);
  EXPECT_EQ(lesions[1].voxels, second);
  EXPECT_EQ(lesions[2].voxels, other);
  EXPECT_EQ(lesions[2].class_value, 3);
  EXPECT_NEAR(lesions[1].volume_mm3, static_cast<double>(second) * 0.8 * 0.8 * 2.5, 1e-9);
  EXPECT_NEAR(lesions[1].centre_lps_mm[0], -10 + 0.8 * 50, 1e-9);
  EXPECT_NEAR(lesions[1].centre_lps_mm[2], 30 + 2.5 * 20, 1e-9);
  EXPECT_EQ(lesions[0].box_zyx, (Shape{3, 5, 7}));
  EXPECT_EQ(lesions[0].size_zyx, (Shape{11, 11, 11}));

  // The sites: each voxel once, in the row of its block, class and lesion, and in the right part.
  EXPECT_EQ(sites.grid().part_zyx, (std::array<std::int32_t, 3>{1, 4, 4}));
  std::map<std::pair<int, std::uint32_t>, std::uint64_t> voxels;
  const auto blocks = sites.blocks();
  for (const cohort::SiteBlock& block : blocks) {
    voxels[{block.class_value, block.region}] += block.pixels;
    cohort::PartBits expected;
    std::uint32_t pixels = 0;
    for (std::int64_t i = 0; i < 4096; ++i) {
      const Shape at{block.place_zyx[0] * 16 + i / 256, block.place_zyx[1] * 16 + i / 16 % 16,
                     block.place_zyx[2] * 16 + i % 16};
      if (at[0] >= shape[0] || at[1] >= shape[1] || at[2] >= shape[2]) continue;
      if (labels[(at[0] * shape[1] + at[1]) * shape[2] + at[2]] != block.class_value) continue;
      if (block.class_value == 2 && (at[0] > 14) != (block.region == 1)) continue;
      expected.set(static_cast<std::uint32_t>(i / 256 * 16 + i / 16 % 16 / 4 * 4 + i % 16 / 4));
      ++pixels;
    }
    EXPECT_EQ(block.parts, expected);
    EXPECT_EQ(block.pixels, pixels);
  }
  EXPECT_EQ(
      voxels,
      (std::map<std::pair<int, std::uint32_t>, std::uint64_t>{
          {{1, cohort::kWholeClass}, organ}, {{2, 0}, first}, {{2, 1}, second}, {{3, 2}, other}}));
}

TEST(BodyMask, LeavesTheTableAndFillsTheLungs) {
  const Shape shape{6, 120, 150};
  pixels::BitVolume above(shape), body(shape);
  std::vector<std::int16_t> slice(static_cast<std::size_t>(shape[1] * shape[2]));
  for (std::int64_t z = 0; z < shape[0]; ++z) {
    std::fill(slice.begin(), slice.end(), -1000);
    for (std::int64_t y = 0; y < shape[1]; ++y) {
      for (std::int64_t x = 0; x < shape[2]; ++x) {
        const double ey = (y - 50.0) / 40, ex = (x - 75.0) / 60;
        const double ly = (y - 45.0) / 15, lx = (x - 50.0) / 14;
        auto& value = slice[y * shape[2] + x];
        if (ey * ey + ex * ex <= 1) {
          value = 40;
          pixels::fill_run({static_cast<std::int32_t>(z), static_cast<std::int32_t>(y),
                            static_cast<std::int32_t>(x), static_cast<std::int32_t>(x + 1), 0},
                           true, body);
        }
        if (ly * ly + lx * lx <= 1) value = -850;  // lung
        if (y >= 94 && y < 97) value = 200;        // table: 4 mm thick, 4 voxels below the back
      }
    }
    pixels::threshold_slice(slice.data(), kBodyThresholdHu, z, above);
  }
  const pixels::BitVolume found = body_mask(above, {5, 1.4, 1.4});
  for (std::int64_t y = 0; y < shape[1]; ++y) {
    for (std::int64_t x = 0; x < shape[2]; ++x) {
      if (y >= 92) {
        EXPECT_FALSE(found.get(3, y, x)) << y << " " << x;
      }
    }
  }
  EXPECT_TRUE(found.get(3, 45, 50));
  pixels::BitVolume both = found;
  intersect(both, body);
  const double dice =
      2.0 * static_cast<double>(both.count()) / static_cast<double>(found.count() + body.count());
  EXPECT_GT(dice, 0.99);  // opening rounds the tips of the ellipse
  EXPECT_EQ(body_mask(pixels::BitVolume(shape), {5, 1, 1}).count(), 0u);
}

TEST(BodyMask, HoldsTheOrgansOfARealScan) {
  const std::string folder = std::string(HR_SOURCE_DIR) + "/samples/ct/totalseg-abdomen/";
  const auto ct = imaging::open_volume(folder + "ct.nii.gz");
  const auto& grid = ct->info().grid;
  const auto labels =
      imaging::read_label_volume(*imaging::open_volume(folder + "seg.nii.gz"), grid);
  pixels::BitVolume above(grid.shape_zyx);
  std::vector<std::int16_t> slice(static_cast<std::size_t>(grid.slice_voxels()));
  for (std::int64_t z = 0; z < grid.shape_zyx[0]; ++z) {
    ct->read_int16(z, 1, slice.data());
    pixels::threshold_slice(slice.data(), kBodyThresholdHu, z, above);
  }
  const pixels::BitVolume body = body_mask(above, grid.spacing_mm_zyx());
  std::uint64_t organ = 0, held = 0;
  for (std::int64_t i = 0; i < grid.voxels(); ++i) {
    if (labels.voxels[i] == 0) continue;
    ++organ;
    const std::int64_t x = i % grid.shape_zyx[2], y = i / grid.shape_zyx[2] % grid.shape_zyx[1];
    held += body.get(i / grid.slice_voxels(), y, x);
  }
  EXPECT_GT(organ, 10000u);
  EXPECT_GT(static_cast<double>(held), 0.999 * static_cast<double>(organ));
  EXPECT_LT(static_cast<double>(body.count()), 0.8 * static_cast<double>(grid.voxels()));
}

}  // namespace
}  // namespace headrace::ingest
