#include "headrace/imaging/dicom/contour_fill.hpp"

#include <algorithm>
#include <cmath>

namespace headrace::imaging {
namespace {

/// Where the edges cross row y, ascending.
std::vector<double> crossings(const std::vector<Outline>& outlines, double y) {
  std::vector<double> found;
  for (const Outline& outline : outlines) {
    for (std::size_t i = 0; i < outline.size(); ++i) {
      auto a = outline[i], b = outline[(i + 1) % outline.size()];
      if (a[1] > b[1]) std::swap(a, b);  // the same crossing whichever way an edge runs
      if (y < a[1] || y >= b[1]) continue;
      found.push_back(a[0] + (b[0] - a[0]) * ((y - a[1]) / (b[1] - a[1])));
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

void fill_outlines(const std::vector<Outline>& outlines, std::int64_t height, std::int64_t width,
                   std::uint16_t value, std::uint16_t* slice) {
  double top = static_cast<double>(height), bottom = -1;
  for (const Outline& outline : outlines) {
    for (const auto& vertex : outline) {
      top = std::min(top, vertex[1]);
      bottom = std::max(bottom, vertex[1]);
    }
  }
  const auto first = static_cast<std::int64_t>(std::ceil(std::max(top, 0.0)));
  const auto last =
      static_cast<std::int64_t>(std::floor(std::min(bottom, static_cast<double>(height - 1))));
  for (std::int64_t y = first; y <= last; ++y) {
    const auto x = crossings(outlines, static_cast<double>(y));
    for (std::size_t i = 0; i + 1 < x.size(); i += 2) {
      const auto from =
          static_cast<std::int64_t>(std::ceil(std::clamp(x[i], 0.0, static_cast<double>(width))));
      const auto to = static_cast<std::int64_t>(
          std::ceil(std::clamp(x[i + 1], 0.0, static_cast<double>(width))));
      std::fill(slice + y * width + from, slice + y * width + to, value);
    }
  }
}

}  // namespace headrace::imaging
