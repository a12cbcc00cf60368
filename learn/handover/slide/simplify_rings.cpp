#include "learn/handover/slide/simplify_rings.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <queue>
#include <span>
#include <tuple>

namespace headrace::handover {
namespace {

using pixels::Corner;

constexpr std::size_t kFewestCorners = 4;  // a pixel stays a square
constexpr std::uint32_t kLongestChain = 64;
constexpr int kBandShift = 1;  // bands of 2 rows
constexpr double kTooFar = std::numeric_limits<double>::infinity();

/// Twice the area of a triangle, positive when p is to the right of a → b (y down).
std::int64_t turn(const Corner& a, const Corner& b, const Corner& p) {
  return (std::int64_t{b.x} - a.x) * (std::int64_t{p.y} - a.y) -
         (std::int64_t{b.y} - a.y) * (std::int64_t{p.x} - a.x);
}

bool in_closed_triangle(const Corner& a, const Corner& b, const Corner& c, const Corner& p) {
  const std::int64_t ab = turn(a, b, p), bc = turn(b, c, p), ca = turn(c, a, p);
  return (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
}

/// Squared distance of p from the segment a, c.
double squared_distance(const Corner& a, const Corner& c, const Corner& p) {
  const std::int64_t dx = std::int64_t{c.x} - a.x, dy = std::int64_t{c.y} - a.y;
  const std::int64_t px = std::int64_t{p.x} - a.x, py = std::int64_t{p.y} - a.y;
  const std::int64_t along = px * dx + py * dy, length = dx * dx + dy * dy;
  if (along <= 0) return static_cast<double>(px * px + py * py);
  if (along >= length) {
    const std::int64_t qx = std::int64_t{p.x} - c.x, qy = std::int64_t{p.y} - c.y;
    return static_cast<double>(qx * qx + qy * qy);
  }
  const auto across = static_cast<double>(dx * py - dy * px);
  return across * across / static_cast<double>(length);
}

/// Corners by place, to find those in a box.
class CornerIndex {
 public:
  explicit CornerIndex(std::span<const Corner> corners) : corners_(corners) {
    order_.resize(corners.size());
    for (std::uint32_t i = 0; i < order_.size(); ++i) order_[i] = i;
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(band(corners_[a].y), corners_[a].x, a) <
             std::tuple(band(corners_[b].y), corners_[b].x, b);
    });
  }

  /// Whether `test` is true for a corner with x0 ≤ x ≤ x1, y0 ≤ y ≤ y1.
  template <typename Test>
  bool any_in_box(const Corner& low, const Corner& high, const Test& test) const {
    for (std::int32_t row = band(low.y); row <= band(high.y); ++row) {
      auto at =
          std::lower_bound(order_.begin(), order_.end(), std::pair(row, low.x),
                           [&](std::uint32_t i, const std::pair<std::int32_t, std::int32_t>& p) {
                             return std::pair(band(corners_[i].y), corners_[i].x) < p;
                           });
      for (; at != order_.end(); ++at) {
        const Corner& corner = corners_[*at];
        if (band(corner.y) != row || corner.x > high.x) break;
        if (corner.y >= low.y && corner.y <= high.y && test(*at)) return true;
      }
    }
    return false;
  }

 private:
  static std::int32_t band(std::int32_t y) { return y >> kBandShift; }

  std::span<const Corner> corners_;
  std::vector<std::uint32_t> order_;
};

std::vector<Corner> joined(const Rings& rings) {
  std::vector<Corner> all;
  for (const auto& ring : rings) all.insert(all.end(), ring.begin(), ring.end());
  return all;
}

class RingSimplifier {
 public:
  RingSimplifier(const Rings& rings, double tolerance_px)
      : most_(tolerance_px * tolerance_px), corners_(joined(rings)), index_(corners_) {
    links_.reserve(corners_.size());
    for (const auto& ring : rings) {
      const auto first = static_cast<std::uint32_t>(links_.size());
      const auto count = static_cast<std::uint32_t>(ring.size());
      for (std::uint32_t i = 0; i < count; ++i) {
        links_.push_back({first + (i + count - 1) % count, first + (i + 1) % count,
                          static_cast<std::uint32_t>(rings_.size())});
      }
      rings_.push_back({first, count, count});
    }
  }

  void run() {
    for (std::uint32_t i = 0; i < links_.size(); ++i) propose(i);
    while (!queue_.empty()) {
      const Proposal next = queue_.top();
      queue_.pop();
      const Link& link = links_[next.corner];
      if (!link.there || link.version != next.version) continue;
      if (rings_[link.ring].left <= kFewestCorners || !is_free(next.corner)) continue;
      remove(next.corner);
    }
  }

  void take(Rings& rings) const {
    for (std::size_t r = 0; r < rings.size(); ++r) {
      rings[r].clear();
      for (std::uint32_t i = rings_[r].first; i < rings_[r].first + rings_[r].count; ++i) {
        if (links_[i].there) rings[r].push_back(corners_[i]);
      }
    }
  }

 private:
  struct Link {
    std::uint32_t before, after, ring;
    std::uint32_t version = 0;  ///< counts changes of its neighbours
    bool there = true;
  };
  struct RingState {
    std::uint32_t first, count, left;
  };
  struct Proposal {
    double moves;  ///< squared
    std::uint32_t corner, version;
    /// The queue's top is the least move, then the first corner.
    bool operator<(const Proposal& other) const {
      return std::tie(moves, corner) > std::tie(other.moves, other.corner);
    }
  };

  void propose(std::uint32_t i) {
    if (rings_[links_[i].ring].count <= kFewestCorners) return;
    const double moves = greatest_move(links_[i].before, links_[i].after, rings_[links_[i].ring]);
    if (moves <= most_) queue_.push({moves, i, links_[i].version});
  }

  /// How far the original corners between two are from the segment that would replace them.
  double greatest_move(std::uint32_t from, std::uint32_t to, const RingState& ring) const {
    const std::uint32_t span = (to + ring.count - from) % ring.count;
    if (span > kLongestChain || span == 0) return kTooFar;
    double greatest = 0;
    for (std::uint32_t k = 1; k < span && greatest <= most_; ++k) {
      const std::uint32_t i = ring.first + (from - ring.first + k) % ring.count;
      greatest = std::max(greatest, squared_distance(corners_[from], corners_[to], corners_[i]));
    }
    return greatest;
  }

  /// No other corner is in the triangle with its neighbours. Another ring may share a neighbour's
  /// place; its edges from there can't enter the triangle without a corner in it.
  bool is_free(std::uint32_t i) const {
    const Corner& a = corners_[links_[i].before];
    const Corner& b = corners_[i];
    const Corner& c = corners_[links_[i].after];
    const Corner low{std::min({a.x, b.x, c.x}), std::min({a.y, b.y, c.y})};
    const Corner high{std::max({a.x, b.x, c.x}), std::max({a.y, b.y, c.y})};
    return !index_.any_in_box(low, high, [&](std::uint32_t other) {
      const Corner& p = corners_[other];
      return other != i && links_[other].there && p != a && p != c &&
             in_closed_triangle(a, b, c, p);
    });
  }

  void remove(std::uint32_t i) {
    Link& link = links_[i];
    link.there = false;
    --rings_[link.ring].left;
    links_[link.before].after = link.after;
    links_[link.after].before = link.before;
    for (const std::uint32_t neighbour : {link.before, link.after}) {
      ++links_[neighbour].version;
      propose(neighbour);
    }
  }

  double most_;
  std::vector<Corner> corners_;
  CornerIndex index_;
  std::vector<Link> links_;
  std::vector<RingState> rings_;
  std::priority_queue<Proposal> queue_;
};

}  // namespace

void simplify_rings(Rings& rings, double tolerance_px) {
  const bool changes = std::any_of(rings.begin(), rings.end(),
                                   [](const auto& ring) { return ring.size() > kFewestCorners; });
  if (!(tolerance_px > 0) || !changes) return;
  RingSimplifier simplifier(rings, tolerance_px);
  simplifier.run();
  simplifier.take(rings);
}

}  // namespace headrace::handover
