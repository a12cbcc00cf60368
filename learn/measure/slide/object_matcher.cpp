#include "learn/measure/slide/object_matcher.hpp"

#include <algorithm>
#include <cmath>

namespace headrace::measure {

std::uint32_t RowComponents::root(std::uint32_t id) {
  while (parent_[id] != id) {
    parent_[id] = parent_[parent_[id]];
    id = parent_[id];
  }
  return id;
}

std::uint32_t RowComponents::joined(std::uint32_t a, std::uint32_t b) {
  a = root(a);
  b = root(b);
  const std::uint32_t first = std::min(a, b);
  parent_[std::max(a, b)] = first;
  return first;
}

const std::vector<RowComponents::Run>& RowComponents::row(std::span<const std::uint8_t> inside) {
  std::swap(above_, runs_);
  runs_.clear();
  std::size_t from = 0;  // runs above that end before this one's left neighbour are done
  for (std::size_t x = 0; x < inside.size();) {
    if (inside[x] == 0) {
      ++x;
      continue;
    }
    Run run{x, x, 0};
    while (run.end < inside.size() && inside[run.end] != 0) ++run.end;
    x = run.end;
    while (from < above_.size() && above_[from].end < run.begin) ++from;
    bool known = false;
    for (std::size_t a = from; a < above_.size() && above_[a].begin <= run.end; ++a) {
      run.id = known ? joined(run.id, above_[a].id) : root(above_[a].id);
      known = true;
    }
    if (!known) {
      run.id = static_cast<std::uint32_t>(parent_.size());
      parent_.push_back(run.id);
    }
    runs_.push_back(run);
  }
  return runs_;
}

void ObjectMatcher::row(std::span<const Membership> truth,
                        std::span<const std::uint8_t> predicted) {
  inside_.resize(truth.size());
  std::transform(truth.begin(), truth.end(), inside_.begin(), [](Membership m) {
    return static_cast<std::uint8_t>(m == Membership::inside ? 1 : 0);
  });
  const auto& true_runs = truth_.row(inside_);
  const auto& predicted_runs = predicted_.row(predicted);
  truth_px_.resize(truth_.ids());
  for (const auto& run : true_runs) truth_px_[run.id] += run.end - run.begin;
  predicted_px_.resize(predicted_.ids());
  undecided_px_.resize(predicted_.ids());
  for (const auto& run : predicted_runs) {
    predicted_px_[run.id] += run.end - run.begin;
    undecided_px_[run.id] += static_cast<std::uint64_t>(
        std::count(truth.begin() + static_cast<std::ptrdiff_t>(run.begin),
                   truth.begin() + static_cast<std::ptrdiff_t>(run.end), Membership::undecided));
  }
  overlaps(true_runs, predicted_runs);
}

void ObjectMatcher::overlaps(const std::vector<RowComponents::Run>& truth,
                             const std::vector<RowComponents::Run>& predicted) {
  for (std::size_t t = 0, p = 0; t < truth.size() && p < predicted.size();) {
    const std::size_t begin = std::max(truth[t].begin, predicted[p].begin),
                      end = std::min(truth[t].end, predicted[p].end);
    if (begin < end) overlap_px_[{truth[t].id, predicted[p].id}] += end - begin;
    if (truth[t].end < predicted[p].end) {
      ++t;
    } else {
      ++p;
    }
  }
}

ObjectCounts ObjectMatcher::finish() {
  // Branches that met become one structure.
  const auto gather = [](RowComponents& of, std::vector<std::uint64_t>& px) {
    for (std::uint32_t id = 0; id < px.size(); ++id) {
      const std::uint32_t root = of.root(id);
      if (root != id) px[root] += std::exchange(px[id], 0);
    }
  };
  gather(truth_, truth_px_);
  gather(predicted_, predicted_px_);
  gather(predicted_, undecided_px_);
  std::map<Ids, std::uint64_t> overlaps;
  for (const auto& [ids, px] : overlap_px_)
    overlaps[{truth_.root(ids.first), predicted_.root(ids.second)}] += px;

  ObjectCounts counts;
  std::vector<std::uint8_t> taken(predicted_px_.size(), 0);
  for (const auto& [ids, px] : overlaps) {
    const std::uint64_t decided = predicted_px_[ids.second] - undecided_px_[ids.second];
    const std::uint64_t both = truth_px_[ids.first] + decided - px;
    if (2 * px <= both) continue;
    ++counts.matched;
    counts.iou_sum += static_cast<std::uint64_t>(
        std::llround(static_cast<double>(px) / static_cast<double>(both) * 4294967296.0));
    taken[ids.second] = 1;
  }
  const auto structures =
      std::count_if(truth_px_.begin(), truth_px_.end(), [](std::uint64_t px) { return px > 0; });
  counts.missed = static_cast<std::uint64_t>(structures) - counts.matched;
  for (std::size_t id = 0; id < predicted_px_.size(); ++id) {
    if (predicted_px_[id] == 0 || taken[id] != 0) continue;
    if (2 * undecided_px_[id] <= predicted_px_[id]) ++counts.invented;
  }
  *this = ObjectMatcher();
  return counts;
}

}  // namespace headrace::measure
