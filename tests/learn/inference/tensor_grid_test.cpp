#include "learn/inference/volume/tensor_grid.hpp"

#include "tests/learn/model/watched_operations.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "headrace/core/error.hpp"
#include "tests/learn/model/model_device.hpp"
#include "tests/learn/model/operations_on_meta.hpp"

namespace headrace::inference {
namespace {

using Axes = OriginalGrid::Axes;

struct Case {
  std::int64_t classes;
  Axes patch;
  Level0 level0;
};

/// Slices (z, classes, y, x) as a canvas gives them: random ones of which a fifth are voxels without a
/// tile, and some slices without any; equal neighbours, zeros of both signs and values beside a zero.
std::vector<float> values_of(const Case& of, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> real(0, 1);
  const std::int64_t pixels = of.patch[1] * of.patch[2];
  std::vector<float> out(static_cast<std::size_t>(of.patch[0] * of.classes * pixels));
  for (std::int64_t z = 0; z < of.patch[0]; ++z) {
    const bool without = of.patch[0] > 2 && random() % 4 == 0;
    for (std::int64_t i = 0; i < pixels; ++i) {
      const bool blank = without || random() % 5 == 0;
      for (std::int64_t c = 0; c < of.classes; ++c) {
        float& value = out[static_cast<std::size_t>((z * of.classes + c) * pixels + i)];
        const auto kind = random() % 8;
        value = blank       ? 0.0f
                : kind == 0 ? 0.25f
                : kind == 1 ? -0.0f
                : kind == 2 ? 1e-42f
                            : real(random);
      }
    }
  }
  return out;
}

std::vector<float> on_host(const Case& of, const std::vector<float>& values) {
  std::vector<float> out;
  OriginalGrid grid(static_cast<std::size_t>(of.classes), of.patch, of.level0.shape_zyx,
                    of.level0.step_zyx, [&](std::int64_t, std::span<const float> slice) {
                      out.insert(out.end(), slice.begin(), slice.end());
                    });
  const auto slice = static_cast<std::size_t>(of.classes * of.patch[1] * of.patch[2]);
  for (std::size_t at = 0; at < values.size(); at += slice) grid.add({values.data() + at, slice});
  return out;
}

/// at_once: slices given together, which lie in memory that is used again.
std::vector<float> on_tensors(const Case& of, const std::vector<float>& values,
                              std::int64_t most_voxels, std::int64_t at_once) {
  std::vector<at::Tensor> parts;
  std::int64_t next = 0;
  const at::Device device = fixtures::model_device();
  TensorGrid grid(of.patch, of.level0, device, most_voxels,
                  [&](std::int64_t z, const at::Tensor& slices) {
                    EXPECT_EQ(z, next);
                    next += slices.size(0);
                    const std::int64_t pixels = of.level0.shape_zyx[1] * of.level0.shape_zyx[2];
                    EXPECT_EQ(slices.sizes(), (std::vector{slices.size(0), of.classes, pixels}));
                    EXPECT_TRUE(slices.size(0) == 1 || slices.size(0) * pixels <= most_voxels);
                    parts.push_back(slices);  // may be kept
                  });
  const auto slice = static_cast<std::size_t>(of.classes * of.patch[1] * of.patch[2]);
  // A column more than the image has, so that rows do not lie one after the other.
  at::Tensor ring = at::empty({at_once, of.classes, of.patch[1], of.patch[2] + 1},
                              at::TensorOptions(at::kFloat).device(device));
  for (std::int64_t z = 0; z < of.patch[0]; z += at_once) {
    const std::int64_t count = std::min(at_once, of.patch[0] - z);
    const at::Tensor given = at::empty({count, of.classes, of.patch[1], of.patch[2]}, at::kFloat);
    std::memcpy(given.mutable_data_ptr<float>(),
                values.data() + static_cast<std::size_t>(z) * slice,
                static_cast<std::size_t>(count) * slice * sizeof(float));
    at::Tensor own = ring.narrow(0, 0, count).narrow(3, 0, of.patch[2]);
    own.copy_(given);
    grid.add(own);
    ring.fill_(77);
  }
  EXPECT_EQ(next, of.level0.shape_zyx[0]);
  std::vector<float> out;
  for (const at::Tensor& part : parts) {
    const at::Tensor whole = part.contiguous().to(at::kCPU);
    out.insert(out.end(), whole.const_data_ptr<float>(),
               whole.const_data_ptr<float>() + whole.numel());
  }
  return out;
}

std::vector<Case> cases() {
  std::vector<Case> all{
      {3, {5, 6, 7}, {{10, 24, 14}, {2, 4, 2}}},      {2, {9, 12, 11}, {{9, 5, 4}, {1, 0.4, 0.37}}},
      {4, {13, 7, 5}, {{5, 9, 8}, {0.4, 1.3, 1.61}}},  // the last slice in vain
      {1, {4, 7, 5}, {{11, 7, 5}, {2.9, 1, 1}}},      {9, {6, 5, 4}, {{6, 5, 4}, {1, 1, 1}}},
      {2, {1, 1, 1}, {{3, 2, 4}, {5, 5, 5}}}};
  std::mt19937 random(11);
  std::uniform_real_distribution<double> step(0.3, 3.2);
  for (std::int64_t k = 0; k < 40; ++k) {
    Case one{1 + k % 9, {}, {}};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double own = random() % 4 == 0 ? 1.0 : step(random);
      one.level0.step_zyx[axis] = own;
      one.level0.shape_zyx[axis] = 1 + static_cast<std::int64_t>(random() % 17);
      one.patch[axis] = std::max<std::int64_t>(
          1, static_cast<std::int64_t>(
                 std::ceil(static_cast<double>(one.level0.shape_zyx[axis]) / own)));
    }
    all.push_back(one);
  }
  return all;
}

TEST(TensorGrid, IsTheOriginalGridToTheLastBit) {
  std::uint32_t seed = 0;
  for (const Case& of : cases()) {
    const auto& [depth, height, width] = of.level0.shape_zyx;
    SCOPED_TRACE(::testing::Message() << of.classes << " classes, " << depth << "x" << height << "x"
                                      << width << ", seed " << seed);
    const std::vector<float> values = values_of(of, ++seed), wanted = on_host(of, values);
    ASSERT_EQ(wanted.size(), static_cast<std::size_t>(of.classes * depth * height * width));
    for (const std::int64_t most : {std::int64_t{1}, 3 * height * width, std::int64_t{1} << 20}) {
      for (const std::int64_t at_once : {std::int64_t{1}, std::int64_t{3}, of.patch[0]}) {
        const std::vector<float> found = on_tensors(of, values, most, at_once);
        ASSERT_EQ(found.size(), wanted.size());
        ASSERT_EQ(std::memcmp(found.data(), wanted.data(), wanted.size() * sizeof(float)), 0)
            << most << " voxels, " << at_once << " slices at once";
      }
    }
  }
}

TEST(TensorGrid, GivesTheHostNoNumber) {
  const Case of = cases().front();
  const std::vector<float> values = values_of(of, 1);
  const model::fixtures::WatchedOperations watch;
  on_tensors(of, values, 100, 3);
  EXPECT_EQ(watch.host_reads(), 0);
  EXPECT_EQ(watch.count("aten::index_add_") + watch.count("aten::lerp"), 0);
  EXPECT_GT(watch.count("aten::index_select"), 10) << "the watch sees nothing";
}

/// On a device without memory, of which a copy to the host would be an error.
TEST(TensorGrid, CopiesNothingWhileItWorks) {
  const model::fixtures::OperationsOnMeta operations;
  for (const Case& of : cases()) {
    const model::fixtures::WatchedOperations watch;
    std::int64_t given = 0;
    TensorGrid grid(of.patch, of.level0, at::kMeta, 100, [&](auto, const at::Tensor& slices) {
      EXPECT_TRUE(slices.is_meta());
      given += slices.size(0);
    });
    EXPECT_EQ(watch.copies_from_host(), 6) << "places and parts of three axes";
    for (std::int64_t z = 0; z < of.patch[0]; ++z)
      grid.add(model::fixtures::on_meta({1, of.classes, of.patch[1], of.patch[2]}));
    EXPECT_EQ(given, of.level0.shape_zyx[0]);
    EXPECT_EQ(watch.copies_from_host(), 6);
    EXPECT_EQ(watch.waits_for_copies() + watch.host_reads(), 0);
  }
}

TEST(TensorGrid, MoreSlicesThanTheVolumeHasAreRefused) {
  TensorGrid grid({2, 1, 1}, {{4, 1, 1}, {2, 1, 1}}, at::kCPU, 10, [](auto, const auto&) {});
  const at::Tensor slices = at::full({2, 1, 1, 1}, 1, at::kFloat);
  grid.add(slices);
  EXPECT_THROW(grid.add(slices), Error);
}

TEST(TensorGrid, MemoryGrowsWithClassesAndTheWidestSlice) {
  EXPECT_EQ(widest_slice({9, 10, 300}, {{90, 20, 100}, {10, 2, 0.3}}), 20 * 300);
  const double one = tensor_grid_bytes(3, 1000, 5000);
  EXPECT_EQ(tensor_grid_bytes(3, 5000, 5000), one);
  EXPECT_EQ(tensor_grid_bytes(6, 5000, 5000), 2 * one);
  EXPECT_EQ(tensor_grid_bytes(3, 10000, 5000), 2 * one);
  EXPECT_GE(one, 3 * 5000 * 4.0);
}

}  // namespace
}  // namespace headrace::inference
