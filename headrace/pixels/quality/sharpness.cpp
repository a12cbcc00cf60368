#include "headrace/pixels/quality/sharpness.hpp"

#include <algorithm>
#include <cmath>

namespace headrace::pixels {
namespace {

constexpr std::int64_t kEdge = kSharpnessWindowPx;

/// Luma in thousandths of a step: whole numbers, so that sums are exact.
std::vector<std::int32_t> luma_of(const Image8& rgb) {
  std::vector<std::int32_t> luma(static_cast<std::size_t>(rgb.height * rgb.width));
  const std::uint8_t* pixel = rgb.pixels.data();
  for (std::int32_t& value : luma) {
    value = 299 * pixel[0] + 587 * pixel[1] + 114 * pixel[2];
    pixel += 3;
  }
  return luma;
}

/// Where windows are read: a level, and how often its pixels are halved.
struct Scale {
  std::size_t level = 0;
  int halvings = 0;
  double mpp = 0;         ///< 0: no level is fine enough
  double downsample = 1;  ///< pixels of level 0 a pixel
};

Scale scale_of(const std::vector<SlideScale>& levels) {
  Scale scale;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const double mpp = levels[k].mpp;
    if (mpp > 0 && mpp <= std::sqrt(2.0)) scale = {k, 0, mpp, levels[k].downsample};
  }
  if (scale.mpp == 0) return scale;
  for (; scale.mpp < std::sqrt(0.5); ++scale.halvings) {
    scale.mpp *= 2;
    scale.downsample *= 2;
  }
  return scale;
}

/// The tissue mask, and pixels of level 0 along the edge of one of its pixels.
struct Tissue {
  const Mask& mask;
  double downsample = 1;
};

struct Place {
  std::int64_t y = 0, x = 0;  ///< of a window, in windows
};

/// Windows that are at least a quarter tissue, thinned to kSharpnessWindows.
std::vector<Place> places_of(const Tissue& tissue, double downsample) {
  const double window_px = static_cast<double>(kEdge) * downsample;  // of level 0
  const auto windows = [&](std::int64_t mask_px) {
    return static_cast<std::int64_t>(static_cast<double>(mask_px) * tissue.downsample / window_px) +
           1;
  };
  const std::int64_t rows = windows(tissue.mask.height), columns = windows(tissue.mask.width);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(rows * columns));
  for (std::int64_t y = 0; y < tissue.mask.height; ++y) {
    for (std::int64_t x = 0; x < tissue.mask.width; ++x) {
      const auto at = [&](std::int64_t mask_px) {
        return static_cast<std::int64_t>((static_cast<double>(mask_px) + 0.5) * tissue.downsample /
                                         window_px);
      };
      if (tissue.mask.at(y, x) != 0) ++counts[static_cast<std::size_t>(at(y) * columns + at(x))];
    }
  }
  const double quarter = 0.25 * (window_px / tissue.downsample) * (window_px / tissue.downsample);
  std::vector<Place> all, chosen;
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    if (static_cast<double>(counts[static_cast<std::size_t>(i)]) >= quarter)
      all.push_back({i / columns, i % columns});
  }
  const std::size_t count = std::min(all.size(), kSharpnessWindows);
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(all[i * all.size() / count]);
  return chosen;
}

/// The pixels of a window that lie inside the slide: a white border would be an edge.
Image8 read_window(const SlideScale& level, const ReadSlide& read, const Scale& scale,
                   const Place& place) {
  const std::int64_t edge = kEdge << scale.halvings;
  const std::int64_t y = place.y * edge, x = place.x * edge;
  Image8 rgb = read(scale.level, {y, x, std::clamp(level.height - y, std::int64_t{0}, edge),
                                  std::clamp(level.width - x, std::int64_t{0}, edge)});
  for (int i = 0; i < scale.halvings; ++i) rgb = halved(rgb);
  return rgb;
}

/// The tissue mask in pixels of a window.
Mask tissue_in(const Tissue& tissue, const Place& place, const Image8& rgb, double downsample) {
  Mask window(rgb.height, rgb.width);
  const auto in_mask = [&](std::int64_t px, std::int64_t end) {
    const auto at =
        static_cast<std::int64_t>((static_cast<double>(px) + 0.5) * downsample / tissue.downsample);
    return std::min(at, end - 1);
  };
  for (std::int64_t y = 0; y < window.height; ++y) {
    const std::int64_t row = in_mask(place.y * kEdge + y, tissue.mask.height);
    for (std::int64_t x = 0; x < window.width; ++x) {
      window.at(y, x) = tissue.mask.at(row, in_mask(place.x * kEdge + x, tissue.mask.width));
    }
  }
  return window;
}

}  // namespace

std::optional<double> laplacian_variance(const Image8& rgb, const Mask& tissue) {
  const std::vector<std::int32_t> luma = luma_of(rgb);
  std::int64_t count = 0, sum = 0, squares = 0;
  for (std::int64_t y = 1; y + 1 < rgb.height; ++y) {
    for (std::int64_t x = 1; x + 1 < rgb.width; ++x) {
      if (tissue.at(y, x) == 0) continue;
      const std::int32_t* at = luma.data() + y * rgb.width + x;
      const std::int64_t laplacian =
          std::int64_t{at[-1]} + at[1] + at[-rgb.width] + at[rgb.width] - 4 * std::int64_t{at[0]};
      ++count;
      sum += laplacian;
      squares += laplacian * laplacian;
    }
  }
  if (count < 2) return std::nullopt;
  const auto n = static_cast<double>(count);
  const double mean = static_cast<double>(sum) / n;
  return (static_cast<double>(squares) / n - mean * mean) / 1e6;
}

Image8 halved(const Image8& rgb) {
  Image8 out(rgb.height / 2, rgb.width / 2, rgb.channels);
  const std::int64_t channels = rgb.channels;
  for (std::int64_t y = 0; y < out.height; ++y) {
    const std::uint8_t *above = rgb.row(2 * y), *below = rgb.row(2 * y + 1);
    std::uint8_t* to = out.row(y);
    for (std::int64_t i = 0; i < out.width * channels; ++i) {
      const std::int64_t left = i / channels * 2 * channels + i % channels;
      const std::int64_t right = left + channels;
      to[i] = static_cast<std::uint8_t>(
          (above[left] + above[right] + below[left] + below[right] + 2) >> 2);
    }
  }
  return out;
}

double Sharpness::median() const {
  if (variances.empty()) return 0;
  std::vector<double> sorted = variances;
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

double Sharpness::share_below(double limit) const {
  if (variances.empty()) return 0;
  const auto below = std::count_if(variances.begin(), variances.end(),
                                   [&](double variance) { return variance < limit; });
  return static_cast<double>(below) / static_cast<double>(variances.size());
}

Sharpness sharpness_of(const std::vector<SlideScale>& levels, const Mask& tissue, double downsample,
                       const ReadSlide& read, std::size_t every) {
  const Scale scale = scale_of(levels);
  const Tissue known{tissue, downsample};
  Sharpness sharpness;
  sharpness.mpp = scale.mpp;
  if (scale.mpp == 0) return sharpness;
  const std::vector<Place> places = places_of(known, scale.downsample);
  for (std::size_t i = 0; i < places.size(); i += every) {
    const Image8 rgb = read_window(levels[scale.level], read, scale, places[i]);
    const Mask mask = tissue_in(known, places[i], rgb, scale.downsample);
    if (const auto variance = laplacian_variance(rgb, mask))
      sharpness.variances.push_back(*variance);
  }
  return sharpness;
}

}  // namespace headrace::pixels
