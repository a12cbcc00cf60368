#include "headrace/pixels/regions/region_tracer.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/pixels/regions/outline_drawer.hpp"
#include "headrace/pixels/regions/outline_pieces.hpp"
#include "headrace/pixels/regions/outline_splitter.hpp"
#include "headrace/pixels/regions/region_parts.hpp"
#include "headrace/pixels/regions/value_run.hpp"

namespace headrace::pixels {
namespace {

constexpr std::int64_t kMostPixels = std::numeric_limits<std::int32_t>::max() - 1;

/// Of row[x0] to row[x1 - 1]. Short sums fit 32 bits, of which a vector unit adds twice as many.
std::uint64_t sum_of(const std::uint8_t* row, std::int64_t x0, std::int64_t x1) {
  constexpr std::int64_t kShort = 1 << 20;
  std::uint64_t sum = 0;
  while (x0 < x1) {
    const std::int64_t end = std::min(x1, x0 + kShort);
    std::uint32_t part = 0;
    for (; x0 < end; ++x0) part += row[x0];
    sum += part;
  }
  return sum;
}

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

  void link_rows();
  void measure(ValueRun& run, const std::uint8_t* scores);
  void end_row();
  void give_ended();
  void give(std::uint32_t part);

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
  OutlineDrawer drawer{parts, pieces};
  OutlineSplitter splitter;
  std::vector<std::uint32_t> ended;
};

/// Draws and gives what is known now that the runs of `here` have their regions.
void RegionTracer::State::end_row() {
  if (outlines) drawer.draw_line(above, here, y);
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
      if (run.region == kNowhere) {
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
  if (run.region == kNowhere) {
    figures.sums.resize(channels);
    run.region = parts.add(std::move(figures));
  } else {
    run.region = parts.root(run.region);
    add_figures(figures, parts[run.region].region);
  }
  std::vector<std::uint64_t>& sums = parts[run.region].region.sums;
  for (std::size_t c = 0; c < channels; ++c)
    sums[c] += sum_of(scores + static_cast<std::int64_t>(c) * width, run.x0, run.x1);
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
  find_runs(values, state.traced, state.here);
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
