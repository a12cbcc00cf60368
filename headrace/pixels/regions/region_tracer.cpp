#include "headrace/pixels/regions/region_tracer.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "headrace/core/error.hpp"

namespace headrace::pixels {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kMostPixels = std::numeric_limits<std::int32_t>::max() - 1;
constexpr std::int16_t kUntraced = -1;

/// Pixels x0 … x1 - 1 of one row, of one value.
struct ValueRun {
  std::int32_t x0 = 0, x1 = 0;
  std::int16_t value = kUntraced;
  std::uint32_t region = kNone;
  /// Of the outline that goes up at its left side, the first corner so far, and of the one that
  /// comes down at its right side, the last. Both end at its lower corners.
  std::uint32_t left = kNone, right = kNone;

  bool traced() const { return value != kUntraced; }
};

/// Where the run that begins at x ends.
std::int64_t run_end(const std::uint8_t* values, std::int64_t x, std::int64_t width) {
  const std::uint8_t value = values[x];
  const std::uint64_t eight = value * 0x0101010101010101u;
  for (std::uint64_t word = 0; x + 8 <= width; x += 8) {
    std::memcpy(&word, values + x, 8);
    if (word != eight) break;
  }
  while (x < width && values[x] == value) ++x;
  return x;
}

/// A corner of an outline. In a pinch the pixel on the other side of the corner has the same value
/// and neither of the two beside them has.
struct LinkedCorner {
  std::uint32_t x : 31, pinch : 1;
  std::int32_t y;                     ///< -1: not in use
  std::uint32_t next = kNone;         ///< in the direction of the outline
  std::uint32_t next_origin = kNone;  ///< of the region; see OutlineOrigins
};

/// A region's corners where a piece of an outline began. They are tops of outlines, so each outline
/// has one at least; pieces join without anyone knowing which is which, and their outlines are
/// found from here in the end.
struct OutlineOrigins {
  std::uint32_t first = kNone, last = kNone;
};

/// The pieces of unfinished outlines: linked lists, so that two join in constant time and their
/// ends are all that must be known of them. The region is to the right of the direction. Each
/// function gives the new corner.
class OutlinePieces {
 public:
  std::uint32_t begin(const LinkedCorner& corner, OutlineOrigins& origins) {
    const std::uint32_t at = take(corner);
    (origins.first == kNone ? origins.first : corners_[origins.last].next_origin) = at;
    origins.last = at;
    return at;
  }
  std::uint32_t append(std::uint32_t last, const LinkedCorner& corner) {
    const std::uint32_t at = take(corner);
    corners_[last].next = at;
    return at;
  }
  std::uint32_t prepend(const LinkedCorner& corner, std::uint32_t first) {
    const std::uint32_t at = take(corner);
    corners_[at].next = first;
    return at;
  }
  void join(std::uint32_t last, const LinkedCorner& corner, std::uint32_t first) {
    corners_[append(last, corner)].next = first;
  }

  void unite(OutlineOrigins& to, const OutlineOrigins& from) {
    if (from.first == kNone) return;
    (to.first == kNone ? to.first : corners_[to.last].next_origin) = from.first;
    to.last = from.last;
  }

  /// Calls body(outline), closed outlines as std::vector<LinkedCorner>, and forgets them.
  template <typename Body>
  void drain(const OutlineOrigins& origins, const Body& body) {
    for (std::uint32_t at = origins.first; at != kNone; at = corners_[at].next_origin) {
      if (corners_[at].y < 0) continue;  // a second origin of an outline that is done
      outline_.clear();
      for (std::uint32_t i = at; corners_[i].y >= 0;) {
        outline_.push_back(corners_[i]);
        corners_[i].y = -1;
        i = std::exchange(corners_[i].next, std::exchange(free_, i));
      }
      body(outline_);
    }
  }

 private:
  std::uint32_t take(const LinkedCorner& corner) {
    if (free_ == kNone) {
      if (corners_.size() == kNone)
        fail(ErrorCode::memory,
             "outlines of regions: over {} corners of unfinished regions; trace fewer values, or a "
             "smoother image",
             kNone);
      corners_.push_back(corner);
      return static_cast<std::uint32_t>(corners_.size() - 1);
    }
    const std::uint32_t at = std::exchange(free_, corners_[free_].next);
    corners_[at] = corner;
    return at;
  }

  std::vector<LinkedCorner> corners_;
  std::uint32_t free_ = kNone;
  std::vector<LinkedCorner> outline_;
};

/// Splits an outline where it touches itself. At a pinch it keeps to one pixel, since whether the
/// other one is of the same region shows only later. If it is, the outline comes back, and what lies
/// between is an outline of its own: the region is connected, so it goes around one of the two
/// pixels beside the pinch. Two such parts never interlace, because an outline doesn't cross itself.
class OutlineSplitter {
 public:
  void split(const std::vector<LinkedCorner>& outline, std::vector<std::vector<Corner>>& rings) {
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

 private:
  /// The ring of the path's last corners, from its first one row by row.
  std::vector<Corner> ring_from(std::size_t begin) const {
    std::vector<Corner> ring(path_.begin() + static_cast<std::ptrdiff_t>(begin), path_.end());
    const auto first = std::min_element(
        ring.begin(), ring.end(),
        [](const Corner& a, const Corner& b) { return std::tie(a.y, a.x) < std::tie(b.y, b.x); });
    std::rotate(ring.begin(), first, ring.end());
    return ring;
  }

  std::vector<Corner> path_;
  /// By corner, as (y, x): where it is in path_.
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> pinches_;
};

/// What is known of a region so far.
struct RegionPart {
  std::uint32_t parent = kNone;  ///< itself, or a part that it has become one with
  TracedRegion region;
  OutlineOrigins origins;
};

bool first_before(const TracedRegion& a, const TracedRegion& b) {
  return std::tie(a.first_y, a.first_x) < std::tie(b.first_y, b.first_x);
}

/// Adds the figures of `from`, a part of the same region, with or without sums.
void add_figures(const TracedRegion& from, TracedRegion& to) {
  if (first_before(from, to)) {
    to.first_y = from.first_y;
    to.first_x = from.first_x;
  }
  to.pixels += from.pixels;
  to.y0 = std::min(to.y0, from.y0);
  to.x0 = std::min(to.x0, from.x0);
  to.y1 = std::max(to.y1, from.y1);
  to.x1 = std::max(to.x1, from.x1);
  for (std::size_t i = 0; i < 2; ++i) to.doubled_yx[i] += from.doubled_yx[i];
  for (std::size_t c = 0; c < from.sums.size(); ++c) to.sums[c] += from.sums[c];
}

/// The unfinished regions: a union-find forest whose entries are used again.
class RegionParts {
 public:
  RegionPart& operator[](std::uint32_t i) { return parts_[i]; }

  std::uint32_t add(TracedRegion&& region) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(parts_.size()));
      parts_.emplace_back();
    }
    const std::uint32_t i = free_.back();
    free_.pop_back();
    parts_[i] = {i, std::move(region), {}};
    return i;
  }
  std::uint32_t root(std::uint32_t i) {
    while (parts_[i].parent != i) i = parts_[i].parent = parts_[parts_[i].parent].parent;
    return i;
  }
  void unite(std::uint32_t a, std::uint32_t b, OutlinePieces& pieces) {
    a = root(a);
    b = root(b);
    if (a == b) return;
    parts_[b].parent = a;
    add_figures(parts_[b].region, parts_[a].region);
    pieces.unite(parts_[a].origins, parts_[b].origins);
    united_.push_back(b);
  }
  void release(std::uint32_t i) { free_.push_back(i); }
  /// Releases all that are no root; no run may refer to them any more.
  void release_united() {
    free_.insert(free_.end(), united_.begin(), united_.end());
    united_.clear();
  }

 private:
  std::vector<RegionPart> parts_;
  std::vector<std::uint32_t> free_, united_;
};

/// The four pixels around a corner: above and below, left and right.
struct Around {
  ValueRun &above_left, &above_right, &below_left, &below_right;
};

/// The horizontal edges that leave a corner to the right: of the region above, which go left, the
/// first corner of their piece; of the region below, which go right, the last.
struct HorizontalEdges {
  std::uint32_t above = kNone, below = kNone;
};

}  // namespace

struct RegionTracer::State {
  State(std::int64_t width_, const std::bitset<256>& traced_, std::size_t channels_, bool outlines_,
        Sink&& sink_)
      : width(width_),
        traced(traced_),
        channels(channels_),
        outlines(outlines_),
        sink(std::move(sink_)),
        above{blank()} {}

  ValueRun blank() const { return {.x0 = 0, .x1 = static_cast<std::int32_t>(width)}; }

  void find_runs(const std::uint8_t* values);
  void link_rows();
  void measure(ValueRun& run, const std::uint8_t* scores);
  void end_row();
  void draw_line();
  void draw_corner(std::int32_t x, const Around& p, HorizontalEdges& edges);
  void draw_inner_corner(const LinkedCorner& corner, const Around& p, HorizontalEdges& edges);
  void give_ended();
  void give(std::uint32_t part);
  OutlineOrigins& origins(const ValueRun& run) { return parts[run.region].origins; }

  const std::int64_t width;
  const std::bitset<256> traced;
  const std::size_t channels;
  const bool outlines;
  const Sink sink;

  std::int64_t y = 0;  ///< of `here`
  bool finished = false;
  std::vector<ValueRun> above, here;  ///< two rows, each without gaps
  RegionParts parts;
  OutlinePieces pieces;
  OutlineSplitter splitter;
  std::vector<std::uint32_t> ended;
};

void RegionTracer::State::find_runs(const std::uint8_t* values) {
  here.clear();
  for (std::int64_t x = 0; x < width;) {
    const std::int64_t end = run_end(values, x, width);
    const std::int16_t value = traced[values[x]] ? values[x] : kUntraced;
    if (!here.empty() && here.back().value == value) {
      here.back().x1 = static_cast<std::int32_t>(end);  // another value that is not traced
    } else {
      here.push_back({.x0 = static_cast<std::int32_t>(x),
                      .x1 = static_cast<std::int32_t>(end),
                      .value = value});
    }
    x = end;
  }
}

/// Draws and gives what is known now that the runs of `here` have their regions.
void RegionTracer::State::end_row() {
  if (outlines) draw_line();
  give_ended();
  parts.release_united();
  std::swap(above, here);
  ++y;
}

/// Gives each run the region of a run above that touches it, and unites those that touch the same.
void RegionTracer::State::link_rows() {
  for (std::size_t i = 0, j = 0; i < above.size() && j < here.size();) {
    const ValueRun& up = above[i];
    ValueRun& run = here[j];
    if (up.value == run.value && run.traced()) {
      if (run.region == kNone) {
        run.region = up.region;
      } else {
        parts.unite(run.region, up.region, pieces);
      }
    }
    i += up.x1 <= run.x1 ? 1 : 0;
    j += run.x1 <= up.x1 ? 1 : 0;
  }
}

/// Adds the run to its region, a new one if none above touches it.
void RegionTracer::State::measure(ValueRun& run, const std::uint8_t* scores) {
  const auto x0 = static_cast<std::uint64_t>(run.x0), x1 = static_cast<std::uint64_t>(run.x1);
  TracedRegion figures;
  figures.value = static_cast<std::uint8_t>(run.value);
  figures.pixels = x1 - x0;
  figures.first_y = figures.y0 = y;
  figures.first_x = figures.x0 = run.x0;
  figures.y1 = y + 1;
  figures.x1 = run.x1;
  figures.doubled_yx = {figures.pixels * (2 * static_cast<std::uint64_t>(y) + 1),
                        x1 * x1 - x0 * x0};  // 2·x + 1 over x0 ≤ x < x1
  if (run.region == kNone) {
    figures.sums.resize(channels);
    run.region = parts.add(std::move(figures));
  } else {
    run.region = parts.root(run.region);
    add_figures(figures, parts[run.region].region);
  }
  std::vector<std::uint64_t>& sums = parts[run.region].region.sums;
  for (std::size_t c = 0; c < channels; ++c) {
    const std::uint8_t* row = scores + static_cast<std::int64_t>(c) * width;
    std::uint64_t sum = 0;
    for (std::int64_t x = run.x0; x < run.x1; ++x) sum += row[x];
    sums[c] += sum;
  }
}

/// Draws the outlines' corners between the two rows, from left to right.
void RegionTracer::State::draw_line() {
  ValueRun outside;
  ValueRun *above_left = &outside, *below_left = &outside;
  HorizontalEdges edges;
  std::int32_t x = 0;
  for (std::size_t i = 0, j = 0; x < width;) {
    draw_corner(x, {*above_left, above[i], *below_left, here[j]}, edges);
    above_left = &above[i];
    below_left = &here[j];
    x = std::min(above_left->x1, below_left->x1);
    i += above_left->x1 == x ? 1 : 0;
    j += below_left->x1 == x ? 1 : 0;
  }
  draw_corner(x, {*above_left, outside, *below_left, outside}, edges);
}

/// The outlines through one corner. Those turn here of every pixel that differs from both its
/// neighbours, and of three equal pixels; those of two equal neighbours go straight on.
void RegionTracer::State::draw_corner(std::int32_t x, const Around& p, HorizontalEdges& edges) {
  const bool top = p.above_left.value == p.above_right.value;
  const bool bottom = p.below_left.value == p.below_right.value;
  const bool left = p.above_left.value == p.below_left.value;
  const bool right = p.above_right.value == p.below_right.value;
  const auto at = [&](bool pinch) {
    return LinkedCorner{static_cast<std::uint32_t>(x), pinch ? 1u : 0u,
                        static_cast<std::int32_t>(y)};
  };
  const bool falling = p.above_left.value == p.below_right.value;
  const bool rising = p.above_right.value == p.below_left.value;
  // Pieces that come from the left end before those to the right begin.
  if (!top && !left && p.above_left.traced())
    pieces.join(p.above_left.right, at(falling), edges.above);
  if (!top && !right && p.above_right.traced())
    edges.above = pieces.prepend(at(rising), p.above_right.left);
  if (!bottom && !left && p.below_left.traced())
    p.below_left.right = pieces.append(edges.below, at(rising));
  if (!bottom && !right && p.below_right.traced())
    p.below_right.left = edges.below = pieces.begin(at(falling), origins(p.below_right));
  if (top != bottom) {
    draw_inner_corner(at(false), p, edges);
  } else if (!top) {  // sides that go straight on
    if (left) p.below_left.right = p.above_left.right;
    if (right) p.below_right.left = p.above_right.left;
  }
}

/// The corner of three equal pixels, if there are three.
void RegionTracer::State::draw_inner_corner(const LinkedCorner& corner, const Around& p,
                                            HorizontalEdges& edges) {
  const bool left = p.above_left.value == p.below_left.value;
  const bool right = p.above_right.value == p.below_right.value;
  const bool top = p.above_left.value == p.above_right.value;
  if (left && top && p.above_left.traced())
    p.below_left.right = edges.above = pieces.begin(corner, origins(p.below_left));
  if (right && top && p.above_right.traced())
    p.below_right.left = edges.above = pieces.prepend(corner, edges.above);
  if (left && !top && p.below_left.traced())
    edges.below = pieces.append(p.above_left.right, corner);
  if (right && !top && p.below_right.traced()) pieces.join(edges.below, corner, p.above_right.left);
}

/// Gives the regions of the row above that have no pixel in this one.
void RegionTracer::State::give_ended() {
  ended.clear();
  for (const ValueRun& run : above) {
    if (!run.traced()) continue;
    const std::uint32_t part = parts.root(run.region);
    if (parts[part].region.y1 == y) ended.push_back(part);
  }
  std::sort(ended.begin(), ended.end(), [&](std::uint32_t a, std::uint32_t b) {
    return first_before(parts[a].region, parts[b].region);
  });
  ended.erase(std::unique(ended.begin(), ended.end()), ended.end());
  for (const std::uint32_t part : ended) give(part);
}

void RegionTracer::State::give(std::uint32_t part) {
  TracedRegion region = std::move(parts[part].region);
  pieces.drain(parts[part].origins,
               [&](const auto& outline) { splitter.split(outline, region.rings); });
  // By first corner, which no two rings have in common: the outer one is that of the first pixel.
  std::sort(region.rings.begin(), region.rings.end(), [](const auto& a, const auto& b) {
    return std::tie(a.front().y, a.front().x) < std::tie(b.front().y, b.front().x);
  });
  parts.release(part);
  sink(std::move(region));
}

RegionTracer::RegionTracer(std::int64_t width, const std::bitset<256>& traced, std::size_t channels,
                           bool outlines, Sink sink) {
  if (width < 1 || width > kMostPixels)
    fail(ErrorCode::internal, "regions of an image: its width is {}, 1 to {} expected", width,
         kMostPixels);
  state_ = std::make_unique<State>(width, traced, channels, outlines, std::move(sink));
}

RegionTracer::~RegionTracer() = default;

void RegionTracer::add(std::span<const std::uint8_t> values, std::span<const std::uint8_t> scores) {
  State& state = *state_;
  const auto width = static_cast<std::size_t>(state.width);
  if (values.size() != width || scores.size() != state.channels * width)
    fail(ErrorCode::internal,
         "regions of an image: row {} has {} values and {} scores, {} and {} expected", state.y,
         values.size(), scores.size(), width, state.channels * width);
  if (state.finished || state.y >= kMostPixels)
    fail(ErrorCode::internal, "regions of an image: no row may follow finish, nor {} others",
         kMostPixels);
  state.find_runs(values.data());
  state.link_rows();
  for (ValueRun& run : state.here) {
    if (run.traced()) state.measure(run, scores.data());
  }
  state.end_row();
}

void RegionTracer::finish() {
  State& state = *state_;
  if (std::exchange(state.finished, true)) return;
  state.here = {state.blank()};
  state.end_row();
}

}  // namespace headrace::pixels
