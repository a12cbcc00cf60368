#include "headrace/pixels/regions/outline_splitter.hpp"

#include <algorithm>
#include <tuple>

namespace headrace::pixels {

void OutlineSplitter::split(const std::vector<LinkedCorner>& outline,
                            std::vector<std::vector<Corner>>& rings) {
  path_.clear();
  pinches_.clear();
  for (const LinkedCorner& corner : outline) {
    const Corner at{static_cast<std::int32_t>(corner.x), corner.y};
    if (corner.pinch != 0) {
      const auto [before, is_new] = pinches_.try_emplace({at.y, at.x}, path_.size());
      if (!is_new) {
        rings.push_back(ring_from(before->second));
        path_.resize(before->second);
      }
    }
    path_.push_back(at);
  }
  rings.push_back(ring_from(0));
}

/// The ring of the path's last corners.
std::vector<Corner> OutlineSplitter::ring_from(std::size_t begin) const {
  std::vector<Corner> ring(path_.begin() + static_cast<std::ptrdiff_t>(begin), path_.end());
  const auto first = std::min_element(
      ring.begin(), ring.end(),
      [](const Corner& a, const Corner& b) { return std::tie(a.y, a.x) < std::tie(b.y, b.x); });
  std::rotate(ring.begin(), first, ring.end());
  return ring;
}

}  // namespace headrace::pixels
