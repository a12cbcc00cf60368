#include "headrace/imaging/dicom/ring_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace headrace::imaging {

using pixels::Ring;

namespace {

constexpr double kSameOutline = 0.05;  // voxels

double distance(const RingPoint& point, const RingPoint& a, const RingPoint& b) {
  const double dx = b[0] - a[0], dy = b[1] - a[1];
  const double length = dx * dx + dy * dy;
  const double along = length > 0 ? ((point[0] - a[0]) * dx + (point[1] - a[1]) * dy) / length : 0;
  const double t = std::clamp(along, 0.0, 1.0);
  return std::hypot(point[0] - a[0] - t * dx, point[1] - a[1] - t * dy);
}

bool inside(const RingPoint& point, const Ring& ring) {
  bool odd = false;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const RingPoint &a = ring[i], &b = ring[(i + 1) % ring.size()];
    if ((a[1] > point[1]) == (b[1] > point[1])) continue;
    odd ^= point[0] < a[0] + (point[1] - a[1]) / (b[1] - a[1]) * (b[0] - a[0]);
  }
  return odd;
}

}  // namespace

double area_of(const Ring& ring) {
  double twice = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const RingPoint &a = ring[i], &b = ring[(i + 1) % ring.size()];
    twice += (a[0] - ring[0][0]) * (b[1] - ring[0][1]) - (b[0] - ring[0][0]) * (a[1] - ring[0][1]);
  }
  return std::abs(twice) / 2;
}

void RingBox::add(const Ring& ring) {
  for (const RingPoint& point : ring) {
    for (std::size_t a = 0; a < 2; ++a) {
      low[a] = std::min(low[a], point[a]);
      high[a] = std::max(high[a], point[a]);
    }
  }
}

bool RingBox::meets(const RingBox& other) const {
  return low[0] <= other.high[0] && other.low[0] <= high[0] && low[1] <= other.high[1] &&
         other.low[1] <= high[1];
}

bool on_outline(const RingPoint& point, const Ring& ring) {
  for (std::size_t i = 0; i < ring.size(); ++i) {
    if (distance(point, ring[i], ring[(i + 1) % ring.size()]) <= kSameOutline) return true;
  }
  return false;
}

bool points_within(const Ring& ring, const Ring& other) {
  return std::all_of(ring.begin(), ring.end(), [&](const RingPoint& point) {
    return on_outline(point, other) || inside(point, other);
  });
}

SharedPixels shared_pixels(const Ring& a, const Ring& b, const RingBox& box) {
  const auto x0 = static_cast<std::int64_t>(std::floor(box.low[0])),
             y0 = static_cast<std::int64_t>(std::floor(box.low[1]));
  const auto width = static_cast<std::int64_t>(std::ceil(box.high[0])) - x0 + 1,
             height = static_cast<std::int64_t>(std::ceil(box.high[1])) - y0 + 1;
  constexpr std::int64_t kMost = std::int64_t{1} << 26;  // no slice is larger
  if (width * height > kMost) return {};
  std::vector<std::uint8_t> of_a(static_cast<std::size_t>(width * height)), of_b(of_a);
  const auto paint = [&](const Ring& ring, std::vector<std::uint8_t>& dst) {
    pixels::PolygonRaster raster;
    raster.add({ring}, 1, 1, 0.5);
    raster.paint(y0, x0, height, width, dst.data(), width);
  };
  paint(a, of_a);
  paint(b, of_b);
  SharedPixels pixels;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    pixels.a += of_a[i];
    pixels.b += of_b[i];
    pixels.both += of_a[i] & of_b[i];
  }
  return pixels;
}

double SharedPixels::of_both() const {
  const std::size_t either = a + b - both;
  return either > 0 ? static_cast<double>(both) / static_cast<double>(either) : 0;
}

}  // namespace headrace::imaging
