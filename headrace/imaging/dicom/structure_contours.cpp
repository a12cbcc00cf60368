#include "headrace/imaging/dicom/structure_contours.hpp"

#include <algorithm>
#include <cmath>

#include "headrace/imaging/dicom/ring_geometry.hpp"

namespace headrace::imaging {
namespace {

using pixels::Ring;

constexpr double kSharedArea = 0.8;
constexpr std::int64_t kFewSlices = 3;

bool along(const Ring& ring, const Ring& other) {
  return std::all_of(ring.begin(), ring.end(),
                     [&](const RingPoint& point) { return on_outline(point, other); });
}

bool same_outline(const Ring& a, const Ring& b) {
  const RingBox of_a(a), of_b(b);
  if (!of_a.meets(of_b)) return false;
  const double smaller = std::min(area_of(a), area_of(b)),
               larger = std::max(area_of(a), area_of(b));
  if (smaller < kSharedArea * larger) return false;
  if (along(a, b) && along(b, a)) return true;
  if (points_within(a, b) || points_within(b, a)) return false;
  RingBox of_either = of_a;
  of_either.add(b);
  return shared_pixels(a, b, of_either).of_both() >= kSharedArea;
}

bool lie_over_each_other(const std::vector<Ring>& below, const std::vector<Ring>& above) {
  return std::any_of(below.begin(), below.end(), [&](const Ring& a) {
    return std::any_of(above.begin(), above.end(),
                       [&](const Ring& b) { return RingBox(a).meets(RingBox(b)); });
  });
}

}  // namespace

bool encloses_area(const Ring& ring) {
  constexpr double kLeast = 1e-6;  // square voxels
  return ring.size() >= 3 && area_of(ring) > kLeast;
}

std::size_t drop_doubled(std::vector<Ring>& rings) {
  std::vector<Ring> kept;
  for (Ring& ring : rings) {
    const bool again = std::any_of(
        kept.begin(), kept.end(), [&](const Ring& earlier) { return same_outline(ring, earlier); });
    if (!again) kept.push_back(std::move(ring));
  }
  const std::size_t dropped = rings.size() - kept.size();
  rings = std::move(kept);
  return dropped;
}

ContourGaps fill_gaps(SliceContours& contours, std::optional<double> thickness,
                      const std::vector<bool>& real) {
  ContourGaps gaps;
  std::int64_t step = 0;  // the least between two slices with contours
  for (auto at = contours.begin(); at != contours.end() && std::next(at) != contours.end(); ++at) {
    const std::int64_t here = std::next(at)->first - at->first;
    step = step == 0 ? here : std::min(step, here);
  }
  if (step == 0) return gaps;
  const auto apart = static_cast<double>(step);
  const bool slabs = step >= 2 && thickness && std::abs(*thickness - apart) <= 0.25;
  SliceContours filled;
  for (auto at = contours.begin(); std::next(at) != contours.end(); ++at) {
    const auto& [below, low] = *at;
    const auto& [above, high] = *std::next(at);
    const bool few = above - below <= step || above - below <= kFewSlices + 1;
    if (!few || !lie_over_each_other(low, high)) continue;
    for (std::int64_t z = below + 1; z < above; ++z) {
      if (!real[static_cast<std::size_t>(z)]) continue;
      const std::int64_t up = z - below, down = above - z;
      if (slabs && std::min(up, down) * 2 <= step) {
        filled[z] = up <= down ? low : high;
        ++gaps.filled;
      } else {
        ++gaps.missing;
      }
    }
  }
  contours.merge(filled);
  return gaps;
}

}  // namespace headrace::imaging
