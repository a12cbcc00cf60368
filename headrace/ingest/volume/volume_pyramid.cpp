#include "headrace/ingest/volume/volume_pyramid.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

namespace headrace::ingest {
namespace {

void add_row(const std::int16_t* row, std::int64_t count, std::int32_t* sum) {
  for (std::int64_t x = 0; x < count; ++x) sum[x] += row[x];
}

/// `rows` values were added into each sum; halves them along x as well when `pairs`.
void divide_row(const std::int32_t* sum, std::int64_t count, int rows, bool pairs,
                std::int16_t* dst) {
  const int shift = std::countr_zero(static_cast<unsigned>(rows));
  const auto mean = [](std::int32_t total, int bits) {
    // Shifting rounds down, also below 0.
    return static_cast<std::int16_t>((total + (1 << bits >> 1)) >> bits);
  };
  if (!pairs) {
    for (std::int64_t x = 0; x < count; ++x) dst[x] = mean(sum[x], shift);
    return;
  }
  for (std::int64_t x = 0; x < count / 2; ++x) {
    dst[x] = mean(sum[2 * x] + sum[2 * x + 1], shift + 1);
  }
  if (count % 2 != 0) dst[count / 2] = mean(sum[count - 1], shift);
}

}  // namespace

void halve_volume(const std::int16_t* src, const VolumeLevelPlan& from, const VolumeLevelPlan& to,
                  std::int16_t* dst, ThreadPool& pool) {
  const auto [depth, height, width] = from.shape_zyx;
  const Shape3& out = to.shape_zyx;
  std::array<std::int64_t, 3> step{};
  for (std::size_t a = 0; a < 3; ++a) step[a] = to.factor_zyx[a] / from.factor_zyx[a];
  pool.parallel_for(static_cast<std::size_t>(out[0]), [&, depth = depth, height = height,
                                                       width = width](std::size_t i) {
    const auto z = static_cast<std::int64_t>(i);
    std::vector<std::int32_t> sum(static_cast<std::size_t>(width));
    for (std::int64_t y = 0; y < out[1]; ++y) {
      std::fill(sum.begin(), sum.end(), 0);
      int rows = 0;
      for (std::int64_t sz = z * step[0]; sz < std::min(depth, (z + 1) * step[0]); ++sz) {
        for (std::int64_t sy = y * step[1]; sy < std::min(height, (y + 1) * step[1]); ++sy) {
          add_row(src + (sz * height + sy) * width, width, sum.data());
          ++rows;
        }
      }
      divide_row(sum.data(), width, rows, step[2] == 2, dst + (z * out[1] + y) * out[2]);
    }
  });
}

void pick_labels(const std::uint8_t* level0, const Shape3& shape0, const VolumeLevelPlan& level,
                 std::int64_t z0, std::int64_t depth, std::uint8_t* dst, ThreadPool& pool) {
  const auto place = [&](std::size_t axis, std::int64_t i) {
    const std::int64_t f = level.factor_zyx[axis];
    return std::min(i * f + f / 2, shape0[axis] - 1);
  };
  const std::int64_t height = level.shape_zyx[1], width = level.shape_zyx[2];
  pool.parallel_for(static_cast<std::size_t>(depth), [&](std::size_t i) {
    const auto z = static_cast<std::int64_t>(i);
    const std::uint8_t* slice = level0 + place(0, z0 + z) * shape0[1] * shape0[2];
    for (std::int64_t y = 0; y < height; ++y) {
      const std::uint8_t* row = slice + place(1, y) * shape0[2];
      std::uint8_t* out = dst + (z * height + y) * width;
      if (level.factor_zyx[2] == 1) {
        std::memcpy(out, row, static_cast<std::size_t>(width));
        continue;
      }
      for (std::int64_t x = 0; x < width; ++x) out[x] = row[place(2, x)];
    }
  });
}

}  // namespace headrace::ingest
