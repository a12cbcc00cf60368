#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/core/threads.hpp"
#include "python/src/bindings.hpp"
#include "python/src/unlocked.hpp"

namespace headrace::python {
namespace {

using Patches = nb::ndarray<std::uint8_t, nb::ndim<4>, nb::c_contig, nb::device::cpu>;
using Windows = nb::ndarray<const std::uint8_t, nb::ndim<4>, nb::c_contig, nb::device::cpu>;
using Planes = nb::ndarray<float, nb::ndim<4>, nb::c_contig, nb::device::cpu>;
using Offsets = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// What one pixel of the output is made of along an axis.
struct Taps {
  std::int64_t first = 0;
  std::vector<float> weights;
};

/// Output pixel i covers [offset + i · scale, offset + (i + 1) · scale) of the window's pixels.
/// scale >= 1: the mean of that stretch; below: linear between the two nearest pixel centres.
/// Pixels beyond the window count as its last ones.
std::vector<Taps> taps_of(double offset, double scale, std::int64_t out, std::int64_t window) {
  std::vector<Taps> all(static_cast<std::size_t>(out));
  for (std::int64_t i = 0; i < out; ++i) {
    Taps& taps = all[static_cast<std::size_t>(i)];
    const double from = offset + static_cast<double>(i) * scale;
    if (scale < 1) {
      const double centre =
          std::clamp(from + scale / 2 - 0.5, 0.0, static_cast<double>(window - 1));
      taps.first =
          std::min(static_cast<std::int64_t>(centre), std::max<std::int64_t>(window - 2, 0));
      const auto part = static_cast<float>(centre - static_cast<double>(taps.first));
      taps.weights = {1 - part, part};
      if (window == 1) taps.weights = {1};
      continue;
    }
    const double to = std::min(from + scale, static_cast<double>(window));
    taps.first =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(from)), 0, window - 1);
    double sum = 0;
    std::vector<double> shares;
    for (std::int64_t j = taps.first; j < window && static_cast<double>(j) < to; ++j) {
      const double share =
          std::min(to, static_cast<double>(j + 1)) - std::max(from, static_cast<double>(j));
      shares.push_back(std::max(share, 0.0));
      sum += shares.back();
    }
    for (const double share : shares) taps.weights.push_back(static_cast<float>(share / sum));
  }
  return all;
}

/// One window (…, width, 3) to one patch: columns first, whose sums the compiler makes for several
/// values at once, so that the slower sums along rows are made for the patch's rows alone.
void resample(const std::uint8_t* window, std::int64_t width, const std::vector<Taps>& rows,
              const std::vector<Taps>& columns, std::uint8_t* to, std::vector<float>& sums) {
  sums.resize(static_cast<std::size_t>(width * 3));
  for (const Taps& row : rows) {
    std::fill(sums.begin(), sums.end(), 0.0F);
    const std::uint8_t* from = window + row.first * width * 3;
    for (const float weight : row.weights) {
      for (std::int64_t i = 0; i < width * 3; ++i)
        sums[static_cast<std::size_t>(i)] += weight * static_cast<float>(from[i]);
      from += width * 3;
    }
    for (const Taps& column : columns) {
      const float* pixel = sums.data() + column.first * 3;
      float red = 0.5F, green = 0.5F, blue = 0.5F;  // the result is rounded
      for (const float weight : column.weights) {
        red += weight * pixel[0];
        green += weight * pixel[1];
        blue += weight * pixel[2];
        pixel += 3;
      }
      *to++ = static_cast<std::uint8_t>(std::min(red, 255.0F));
      *to++ = static_cast<std::uint8_t>(std::min(green, 255.0F));
      *to++ = static_cast<std::uint8_t>(std::min(blue, 255.0F));
    }
  }
}

void resample_patches(const Windows& windows, const Offsets& offsets,
                      const std::array<double, 2>& scale, const Patches& out, int threads) {
  const std::size_t count = windows.shape(0);
  if (out.shape(0) != count || offsets.shape(0) != count || offsets.shape(1) != 2 ||
      windows.shape(3) != 3 || out.shape(3) != 3 || windows.size() == 0) {
    fail(ErrorCode::internal, "resample_patches: arrays that do not fit each other");
  }
  const auto height = static_cast<std::int64_t>(windows.shape(1));
  const auto width = static_cast<std::int64_t>(windows.shape(2));
  const auto out_height = static_cast<std::int64_t>(out.shape(1));
  const auto out_width = static_cast<std::int64_t>(out.shape(2));
  const Unlocked unlocked;
  ThreadPool pool(threads);
  pool.parallel_for(count, [&](std::size_t i) {
    thread_local std::vector<float> sums;
    const auto rows = taps_of(offsets(i, 0), scale[0], out_height, height);
    const auto columns = taps_of(offsets(i, 1), scale[1], out_width, width);
    const auto at = static_cast<std::int64_t>(i);
    resample(windows.data() + at * height * width * 3, width, rows, columns,
             out.data() + at * out_height * out_width * 3, sums);
  });
}

/// (n, y, x, 3) uint8 to (n, 3, y, x) float32: table (3, 256) has what each value becomes.
void look_up_patches(const Windows& patches, const Table& table, const Planes& out, int threads) {
  const std::size_t count = patches.shape(0);
  if (out.shape(0) < count || out.shape(1) != 3 || out.shape(2) != patches.shape(1) ||
      out.shape(3) != patches.shape(2) || patches.shape(3) != 3 || table.shape(0) != 3 ||
      table.shape(1) != 256) {
    fail(ErrorCode::internal, "look_up_patches: arrays that do not fit each other");
  }
  const auto pixels = static_cast<std::int64_t>(patches.shape(1) * patches.shape(2));
  const float* const red = table.data();
  const float* const green = red + 256;
  const float* const blue = green + 256;
  const Unlocked unlocked;
  ThreadPool pool(threads);
  pool.parallel_for(count, [&](std::size_t i) {
    const std::uint8_t* from = patches.data() + static_cast<std::int64_t>(i) * pixels * 3;
    float* const to = out.data() + static_cast<std::int64_t>(i) * pixels * 3;
    float* const to_green = to + pixels;
    float* const to_blue = to_green + pixels;
    for (std::int64_t p = 0; p < pixels; ++p) {
      to[p] = red[from[3 * p]];
      to_green[p] = green[from[3 * p + 1]];
      to_blue[p] = blue[from[3 * p + 2]];
    }
  });
}

}  // namespace

void bind_patch_pixels(nb::module_& module) {
  module.def("resample_patches", &resample_patches, nb::arg("windows"), nb::arg("offsets"),
             nb::arg("scale"), nb::arg("out"), nb::arg("threads"));
  module.def("look_up_patches", &look_up_patches, nb::arg("patches"), nb::arg("table"),
             nb::arg("out"), nb::arg("threads"));
}

}  // namespace headrace::python
