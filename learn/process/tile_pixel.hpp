#pragma once
#include <cstdint>

#include "learn/process/pixel_math.hpp"

/// The kernels of tile_kernel.hpp, one result at a time, as a GPU's thread makes it: kernel(row,
/// i), with the same arithmetic and order of additions as in the CPU driver's rows.
namespace headrace::process {

HR_HD const std::uint8_t* pixel_of(const SourceView& s, std::int64_t y, std::int64_t x) {
  std::int64_t row = y - s.y0;
  if (row >= s.ring_rows) row %= s.ring_rows;  // rare: a 64-bit division is expensive on a GPU
  return s.base + row * s.row_bytes + (x - s.x0) * s.channels;
}

HR_HD float luminance_at(const SourceView& s, std::int64_t y, std::int64_t x) {
  return luminance_of(pixel_of(s, reflected(y, s.height), reflected(x, s.width)), s.channels);
}

HR_HD math::Rgb<float> rgb_at(const TileKernel& k, std::int32_t row, std::int32_t column) {
  const std::uint8_t* p = pixel_of(k.source, k.y0 + row, k.x0 + column);
  return {static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2])};
}

HR_HD std::uint8_t* result_of(const TileKernel& k, std::int32_t channel, std::int32_t row,
                              std::int32_t column) {
  return k.out.data + channel * k.out.channel_bytes + row * k.out.row_bytes +
         column * k.out.pixel_bytes;
}

HR_HD void store_result(const TileKernel& k, std::int32_t channel, std::int32_t row,
                        std::int32_t column, float value) {
  std::uint8_t* at = result_of(k, channel, row, column);
  switch (k.out.type) {
    case OutputType::uint8:
      *at = static_cast<std::uint8_t>(rounded(value, k.out.scale, 255.0f));
      return;
    case OutputType::uint16:
      *reinterpret_cast<std::uint16_t*>(at) =
          static_cast<std::uint16_t>(rounded(value, k.out.scale, 65535.0f));
      return;
    case OutputType::float32:
      *reinterpret_cast<float*>(at) = value * k.out.scale;
      return;
  }
}

struct CopiedPixel {
  TileKernel k;
  HR_HD void operator()(std::int32_t row, std::int32_t column) const {
    const std::uint8_t* p = pixel_of(k.source, k.y0 + row, k.x0 + column);
    for (std::int32_t c = 0; c < k.source.channels; ++c) *result_of(k, c, row, column) = p[c];
  }
};

struct SobelPixel {
  TileKernel k;
  HR_HD void operator()(std::int32_t row, std::int32_t column) const {
    const std::int64_t y = k.y0 + row, x = k.x0 + column;
    const SourceView& s = k.source;
    store_result(k, 0, row, column,
                 sobel_of(luminance_at(s, y - 1, x - 1), luminance_at(s, y - 1, x),
                          luminance_at(s, y - 1, x + 1), luminance_at(s, y, x - 1),
                          luminance_at(s, y, x + 1), luminance_at(s, y + 1, x - 1),
                          luminance_at(s, y + 1, x), luminance_at(s, y + 1, x + 1)));
  }
};

/// Columns of a gaussian's tile, including its halo.
HR_HD std::int32_t halo_width(const TileKernel& k) { return k.width + 2 * k.radius; }

/// Floats of working memory on an accelerator.
HR_HD std::int64_t sums_of(const TileKernel& k) {
  if (k.kind != KernelKind::gaussian) return 0;
  return std::int64_t{k.source.channels} * k.height * halo_width(k);
}

/// First of gaussian's two passes: down the columns, including those of the halo.
struct ColumnSum {
  TileKernel k;
  float* sums;  ///< (channel, row, column with halo)
  HR_HD void operator()(std::int32_t row, std::int32_t element) const {
    const std::int32_t length = halo_width(k), channel = element / length, i = element % length;
    const std::int64_t y = k.y0 + row, x = reflected(k.x0 - k.radius + i, k.source.width);
    sums[(std::int64_t{channel} * k.height + row) * length + i] =
        gaussian_sum(k.weights, k.radius, [&](std::int32_t n) HR_LAMBDA {
          return fraction_of(pixel_of(k.source, reflected(y + n, k.source.height), x)[channel]);
        });
  }
};

/// Second pass: along the rows of sums.
struct RowSum {
  TileKernel k;
  const float* sums;
  HR_HD void operator()(std::int32_t row, std::int32_t element) const {
    const std::int32_t channel = element / k.width, column = element % k.width;
    const float* centre =
        sums + (std::int64_t{channel} * k.height + row) * halo_width(k) + k.radius + column;
    const auto at = [&](std::int32_t n) HR_LAMBDA { return centre[n]; };
    store_result(k, channel, row, column, gaussian_sum(k.weights, k.radius, at));
  }
};

struct DensityPixel {
  TileKernel k;
  HR_HD void operator()(std::int32_t row, std::int32_t column) const {
    const auto amounts = stain_amounts(k.colour, rgb_at(k, row, column));
    store_result(k, 0, row, column, amounts.r);
    store_result(k, 1, row, column, amounts.g);
  }
};

struct RecolouredPixel {
  TileKernel k;
  HR_HD void operator()(std::int32_t row, std::int32_t column) const {
    const auto colour = math::affine_density(k.colour, rgb_at(k, row, column));
    store_result(k, 0, row, column, colour.r);
    store_result(k, 1, row, column, colour.g);
    store_result(k, 2, row, column, colour.b);
  }
};

struct MaskPixel {
  TileKernel k;
  HR_HD void operator()(std::int32_t row, std::int32_t column) const {
    const std::uint8_t* p = pixel_of(k.source, k.y0 + row, k.x0 + column);
    *result_of(k, 0, row, column) = mask_of(p[0], p[1], p[2], k.threshold);
  }
};

/// Calls run(rows, elements, kernel, name) for each pass of a tile, in order: the one list of
/// passes for every back end. `sums`: sums_of(k) floats. A tile has at most 65,535 rows.
template <typename Run>
void run_passes(const TileKernel& k, float* sums, const Run& run) {
  switch (k.kind) {
    case KernelKind::copy:
      return run(k.height, k.width, CopiedPixel{k}, "copy");
    case KernelKind::sobel:
      return run(k.height, k.width, SobelPixel{k}, "sobel");
    case KernelKind::gaussian:
      run(k.height, k.source.channels * halo_width(k), ColumnSum{k, sums}, "gaussian columns");
      return run(k.height, k.source.channels * k.width, RowSum{k, sums}, "gaussian rows");
    case KernelKind::density:
      return run(k.height, k.width, DensityPixel{k}, "stain amounts");
    case KernelKind::recolour:
      return run(k.height, k.width, RecolouredPixel{k}, "recolour");
    case KernelKind::mask:
      return run(k.height, k.width, MaskPixel{k}, "mask");
  }
}

}  // namespace headrace::process
