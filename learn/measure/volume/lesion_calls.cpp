#include "learn/measure/volume/lesion_calls.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

#include "headrace/pixels/bit_volume.hpp"

namespace headrace::measure {
namespace {

using pixels::BitVolume;
using pixels::Run;
using Axes = std::array<std::int64_t, 3>;

/// The lesion of a voxel, or none, by its runs.
class LesionOfVoxel {
 public:
  LesionOfVoxel(const pixels::Components& lesions, const Axes& shape)
      : runs_(lesions.runs), first_(static_cast<std::size_t>(shape[0] * shape[1] + 1), 0) {
    for (const pixels::Run& run : runs_)
      ++first_[static_cast<std::size_t>(run.z * shape[1] + run.y) + 1];
    for (std::size_t row = 1; row < first_.size(); ++row) first_[row] += first_[row - 1];
  }
  const Run* at(std::int64_t row, std::int64_t x) const {
    const auto r = static_cast<std::size_t>(row);
    for (std::size_t i = first_[r]; i < first_[r + 1]; ++i) {
      if (x >= runs_[i].x0 && x < runs_[i].x1) return &runs_[i];
    }
    return nullptr;
  }

 private:
  const std::vector<pixels::Run>& runs_;
  std::vector<std::size_t> first_;  ///< run of each row
};

using Peak = std::pair<std::uint16_t, std::size_t>;

/// The highest score comes first, of equal ones the first place.
struct LowerPeak {
  bool operator()(const Peak& a, const Peak& b) const {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  }
};

class CallFinder {
 public:
  CallFinder(std::span<const std::uint16_t> probability, const Axes& shape,
             const pixels::Components& lesions)
      : p_(probability),
        shape_(shape),
        done_(shape),
        dropped_(shape),
        own_(shape),
        lesion_(lesions, shape) {}

  /// Gives each call to `found` by falling score. With `voxels` its runs as well, else none.
  template <typename Found>
  void find(std::uint16_t least, std::uint64_t least_voxels, bool voxels, const Found& found) {
    least_ = std::max<std::uint16_t>(least, 1);
    add_peaks({0, 0, 0}, {shape_[0] - 1, shape_[1] - 1, shape_[2] - 1});
    while (!peaks_.empty()) {
      const Axes at = place(peaks_.top().second);
      peaks_.pop();
      if (done_.get(at[0], at[1], at[2]) || dropped_.get(at[0], at[1], at[2])) continue;
      LocatedCall call;
      if (fill(at, least_voxels, voxels, call)) found(std::move(call));
    }
  }

 private:
  std::size_t index(const Axes& at) const {
    return static_cast<std::size_t>((at[0] * shape_[1] + at[1]) * shape_[2] + at[2]);
  }
  Axes place(std::size_t i) const {
    const auto at = static_cast<std::int64_t>(i);
    return {at / (shape_[1] * shape_[2]), at / shape_[2] % shape_[1], at % shape_[2]};
  }
  template <typename Visit>
  void neighbours(const Axes& at, const Visit& visit) const {
    const auto low = [&](std::size_t axis) { return std::max<std::int64_t>(0, at[axis] - 1); };
    const auto high = [&](std::size_t axis) { return std::min(shape_[axis] - 1, at[axis] + 1); };
    for (std::int64_t z = low(0); z <= high(0); ++z) {
      for (std::int64_t y = low(1); y <= high(1); ++y) {
        for (std::int64_t x = low(2); x <= high(2); ++x) visit(Axes{z, y, x});
      }
    }
  }

  /// Voxels of the box that no neighbour exceeds, and that no equal neighbour precedes. Dropped
  /// ones count as 0.
  void add_peaks(const Axes& low, const Axes& high) {
    for (std::int64_t z = low[0]; z <= high[0]; ++z) {
      for (std::int64_t y = low[1]; y <= high[1]; ++y) {
        for (std::int64_t x = low[2]; x <= high[2]; ++x) {
          const std::size_t i = index({z, y, x});
          if (p_[i] < least_ || dropped_.get(z, y, x)) continue;
          bool highest = true;
          neighbours({z, y, x}, [&](const Axes& at) {
            const std::size_t j = index(at);
            highest &=
                p_[j] < p_[i] || (p_[j] == p_[i] && j >= i) || dropped_.get(at[0], at[1], at[2]);
          });
          if (highest) peaks_.emplace(p_[i], i);
        }
      }
    }
  }

  /// Fills the part connected with the peak. False where it is too small, or meets a part filled
  /// before: peaks come in falling order, so the part then has a higher peak, and no voxel filled
  /// now can be the highest of a separate part.
  bool fill(const Axes& start, std::uint64_t least_voxels, bool voxels, LocatedCall& located) {
    CallRegion& call = located.region;
    call.score = p_[index(start)];
    const auto least = static_cast<std::uint16_t>((2 * call.score + 4) / 5);  // 0.4, rounded up
    bool alone = true;
    Axes low = start, high = start;
    const auto take = [&](const Axes& at, std::vector<Axes>& to) {
      set(at, own_);
      to.push_back(at);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        low[axis] = std::min(low[axis], at[axis]);
        high[axis] = std::max(high[axis], at[axis]);
      }
    };
    rim_.clear();
    take(start, rim_);
    while (!rim_.empty()) {
      next_.clear();
      for (const Axes& from : rim_) {
        count(from, call);
        neighbours(from, [&](const Axes& at) {
          if (p_[index(at)] < least || own_.get(at[0], at[1], at[2]) ||
              dropped_.get(at[0], at[1], at[2])) {
            return;
          }
          if (done_.get(at[0], at[1], at[2])) {
            alone = false;
          } else {
            take(at, next_);
          }
        });
      }
      rim_.swap(next_);
    }
    const bool large = call.voxels >= least_voxels;
    if (voxels && alone && large) located.runs = own_runs(low, high);
    move_own_to(alone && !large ? dropped_ : done_, low, high);
    if (alone && !large) {  // the rest around it may have its own peak; all are lower
      for (std::size_t axis = 0; axis < 3; ++axis) {
        low[axis] = std::max<std::int64_t>(0, low[axis] - 1);
        high[axis] = std::min(shape_[axis] - 1, high[axis] + 1);
      }
      add_peaks(low, high);
    }
    return alone && large;
  }

  static void set(const Axes& at, BitVolume& in) {
    in.row(at[0], at[1])[at[2] >> 6] |= std::uint64_t{1} << (at[2] & 63);
  }

  void count(const Axes& at, CallRegion& call) const {
    ++call.voxels;
    for (std::size_t axis = 0; axis < 3; ++axis) call.doubled_zyx[axis] += 2 * at[axis] + 1;
    if (const Run* run = lesion_.at(at[0] * shape_[1] + at[1], at[2]))
      ++call.shared[run->component];
  }

  /// Of the box that was filled.
  std::vector<Run> own_runs(const Axes& low, const Axes& high) const {
    std::vector<Run> runs;
    for (std::int64_t z = low[0]; z <= high[0]; ++z) {
      for (std::int64_t y = low[1]; y <= high[1]; ++y) {
        for (std::int64_t x = low[2]; x <= high[2]; ++x) {
          if (!own_.get(z, y, x)) continue;
          const std::int64_t x0 = x;
          while (x <= high[2] && own_.get(z, y, x)) ++x;
          runs.push_back({static_cast<std::int32_t>(z), static_cast<std::int32_t>(y),
                          static_cast<std::int32_t>(x0), static_cast<std::int32_t>(x)});
        }
      }
    }
    return runs;
  }

  /// Of the box that was filled.
  void move_own_to(BitVolume& to, const Axes& low, const Axes& high) {
    for (std::int64_t z = low[0]; z <= high[0]; ++z) {
      for (std::int64_t y = low[1]; y <= high[1]; ++y) {
        for (std::int64_t w = low[2] >> 6; w <= high[2] >> 6; ++w) {
          to.row(z, y)[w] |= own_.row(z, y)[w];
          own_.row(z, y)[w] = 0;
        }
      }
    }
  }

  std::span<const std::uint16_t> p_;
  Axes shape_;
  BitVolume done_, dropped_, own_;  ///< filled before; too small to be a call; filled now
  LesionOfVoxel lesion_;
  std::vector<Axes> rim_, next_;
  /// Score and place of the peaks to come.
  std::priority_queue<Peak, std::vector<Peak>, LowerPeak> peaks_;
  std::uint16_t least_ = 1;  ///< score of a call
};

}  // namespace

std::vector<CallRegion> find_calls(std::span<const std::uint16_t> probability,
                                   const std::array<std::int64_t, 3>& shape_zyx,
                                   std::uint16_t least_score, std::uint64_t least_voxels,
                                   const pixels::Components& lesions) {
  std::vector<CallRegion> out;
  CallFinder(probability, shape_zyx, lesions)
      .find(least_score, least_voxels, false,
            [&](LocatedCall&& call) { out.push_back(std::move(call.region)); });
  return out;
}

std::vector<LocatedCall> find_calls_with_voxels(std::span<const std::uint16_t> probability,
                                                const std::array<std::int64_t, 3>& shape_zyx,
                                                std::uint16_t least_score,
                                                std::uint64_t least_voxels) {
  const pixels::Components none;
  std::vector<LocatedCall> out;
  CallFinder(probability, shape_zyx, none)
      .find(least_score, least_voxels, true, [&](LocatedCall&& call) {
        for (Run& run : call.runs) run.component = static_cast<std::uint32_t>(out.size());
        out.push_back(std::move(call));
      });
  return out;
}

std::uint64_t least_call_voxels(double least_mm3, double voxel_mm3) {
  return static_cast<std::uint64_t>(std::max(1.0, std::ceil(least_mm3 / voxel_mm3 - 1e-9)));
}

}  // namespace headrace::measure
