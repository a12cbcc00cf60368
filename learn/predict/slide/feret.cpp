#include "learn/predict/slide/feret.hpp"

#include <algorithm>
#include <tuple>

namespace headrace::predict {
namespace {

using pixels::Corner;

/// Whether c lies to the left of the line from a to b.
bool turns_left(const Corner& a, const Corner& b, const Corner& c) {
  return (std::int64_t{b.x} - a.x) * (std::int64_t{c.y} - a.y) >
         (std::int64_t{b.y} - a.y) * (std::int64_t{c.x} - a.x);
}

/// Adds one half of the hull, from the first to the last but one of the sorted points.
template <typename Iterator>
void add_chain(Iterator begin, Iterator end, std::vector<Corner>& hull) {
  const std::size_t start = hull.size();
  for (Iterator at = begin; at != end; ++at) {
    while (hull.size() >= start + 2 && !turns_left(hull[hull.size() - 2], hull.back(), *at))
      hull.pop_back();
    hull.push_back(*at);
  }
  hull.pop_back();
}

}  // namespace

std::vector<Corner> convex_hull(std::vector<Corner> points) {
  std::sort(points.begin(), points.end(), [](const Corner& a, const Corner& b) {
    return std::tie(a.x, a.y) < std::tie(b.x, b.y);
  });
  points.erase(std::unique(points.begin(), points.end()), points.end());
  if (points.size() < 3) return points;
  std::vector<Corner> hull;
  add_chain(points.begin(), points.end(), hull);
  add_chain(points.rbegin(), points.rend(), hull);
  return hull;
}

std::uint64_t squared_diameter(const std::vector<Corner>& hull) {
  std::uint64_t greatest = 0;
  for (std::size_t i = 0; i < hull.size(); ++i) {
    for (std::size_t k = i + 1; k < hull.size(); ++k) {
      const std::int64_t dx = std::int64_t{hull[i].x} - hull[k].x;
      const std::int64_t dy = std::int64_t{hull[i].y} - hull[k].y;
      greatest = std::max(greatest, static_cast<std::uint64_t>(dx * dx + dy * dy));
    }
  }
  return greatest;
}

}  // namespace headrace::predict
