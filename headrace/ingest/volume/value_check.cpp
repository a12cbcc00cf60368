#include "headrace/ingest/volume/value_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headrace/core/option_name.hpp"

namespace headrace::ingest {
namespace {

constexpr std::int64_t kSampledVoxels = std::int64_t{1} << 22;
constexpr double kFewSteps = 20;    ///< noise of water alone has more
constexpr double kPadding = -1100;  ///< what lies below is no measurement: air is -1000
constexpr double kNoAir = -200;     ///< above it there is neither air nor lung
constexpr double kAboveSoft = 150;  ///< the median of soft tissue, with contrast too, is below
constexpr double kAboveBone = 700;  ///< the median of bone is below
constexpr double kClose = 150;      ///< around air and its noise
constexpr double kMuch = 0.1, kSome = 0.05;
constexpr double kLowestOfAir = -300;

/// Counts of values with the questions that are asked of them.
class Counts {
 public:
  explicit Counts(const IntensityHistogram& histogram)
      : histogram_(histogram), scale_(stored_per_unit(histogram.unit())) {
    for (int value = -32768; value <= 32767; ++value) {
      const std::uint64_t count = histogram.count_of(static_cast<std::int16_t>(value));
      if (count == 0) continue;
      if (all_ == 0) lowest_ = value;
      highest_ = value;
      all_ += count;
      ++different_;
      if (count > most_) {
        most_ = count;
        mode_ = value;
      }
    }
  }

  std::uint64_t all() const { return all_; }
  double different() const { return static_cast<double>(different_); }
  double lowest() const { return lowest_ / scale_; }
  double highest() const { return highest_ / scale_; }
  double share_of_lowest() const {
    return share(histogram_.count_of(static_cast<std::int16_t>(lowest_)));
  }

  /// Those above `low` and up to `high`, in the unit, but the most common value where `but_mode`.
  IntensityHistogram between(double low, double high, bool but_mode = false) const {
    IntensityHistogram part(histogram_.unit());
    std::vector<std::uint64_t> counts(65536);
    for (int value = lowest_; value <= highest_; ++value) {
      const double here = value / scale_;
      if (here > low && here <= high && !(but_mode && value == mode_))
        counts[static_cast<std::size_t>(value + 32768)] =
            histogram_.count_of(static_cast<std::int16_t>(value));
    }
    part.add_counts(counts);
    return part;
  }
  IntensityHistogram above(double low) const { return between(low, highest()); }
  double share(std::uint64_t count) const {
    return static_cast<double>(count) / static_cast<double>(std::max<std::uint64_t>(all_, 1));
  }
  double share_between(double low, double high) const { return share(between(low, high).count()); }

 private:
  const IntensityHistogram& histogram_;
  double scale_;
  int lowest_ = 0, highest_ = 0, mode_ = 0;
  std::uint64_t all_ = 0, most_ = 0, different_ = 0;
};

/// So few steps that rounding has destroyed the picture; empty: enough.
std::string few_steps(const Counts& counts, IntensityUnit unit) {
  const double step = 1.0 / stored_per_unit(unit);
  if (counts.different() == 1) {
    return fmt::format("are {:.4g} {} in every voxel, expected a picture", counts.lowest(),
                       name_of(unit));
  }
  if (counts.lowest() < kNoAir || counts.highest() - counts.lowest() >= 100 * step) return "";
  const IntensityHistogram others = counts.between(counts.lowest() - step, counts.highest(), true);
  if (others.percentile(99.5) - others.percentile(0.5) >= kFewSteps * step) return "";
  return fmt::format(
      "are {:.4g} to {:.4g} {}, of which {:.0f} different ones would be stored, in steps of {:.4g}: "
      "as of a map from 0 to 1, standardised values or a mask, which rounding destroys; state their "
      "scale ({} SLOPE,INTERCEPT gives {})",
      counts.lowest(), counts.highest(), name_of(unit), counts.different(), step, Option{"rescale"},
      name_of(unit));
}

/// A CT whose intercept was taken twice: tissue about -1000, air and lungs far below it. Padding is
/// one value.
std::string below_air(const Counts& counts) {
  const IntensityHistogram low = counts.between(-32769, -1300);
  const Counts lows(low);
  const double unlike = counts.share(lows.between(-32769, -1300, true).count());
  if (unlike < kSome || counts.share_between(kLowestOfAir, counts.highest()) > 0.02 ||
      counts.share_between(-850, kLowestOfAir) > counts.share_between(-1250, -850) / 4)
    return "";
  return fmt::format(
      "lie below those of air (-1000 HU): {:.1f} % are below -1300, and few above -300, as if an "
      "intercept of -1024 had been added twice; {} 1,1024 takes one back",
      100 * counts.share(low.count()), Option{"rescale"});
}

/// Values of a CT whose scale is lost.
std::string not_hu(const Counts& counts) {
  if (counts.lowest() == 0 && counts.highest() == 255) {
    return fmt::format(
        "fill 0 to 255, as a window of CT in 8 bits, a map or a picture does; state HU, for a window "
        "from -160 to 240 by {} 1.568627,-160",
        Option{"rescale"});
  }
  const IntensityHistogram measured = counts.above(kPadding);
  const double all = static_cast<double>(measured.count());
  const double low = measured.percentile(1), high = measured.percentile(99.5);
  if (measured.count() == 0 || low <= kNoAir) return below_air(counts);
  const IntensityHistogram tissue = counts.above(low + kClose);
  const double middle = tissue.percentile(50);
  const bool bright_tissue =
      static_cast<double>(tissue.count()) >= kSome * all && middle > kAboveBone;
  const auto near = Counts(tissue).between(middle - 250, middle + 250).count();
  if (bright_tissue && 2 * near > tissue.count()) {
    return fmt::format(
        "begin at {:.0f} and are {:.0f} in most of the tissue, where HU are -1000 in air and 0 to "
        "100 in tissue: raw values, or {:.0f} too high; {} 1,-1024 takes an offset of 1024 away",
        low, middle, std::round(middle - 40), Option{"rescale"});
  }
  const double dark = low + 0.05 * (high - low);
  const double darkness =
      static_cast<double>(counts.between(kPadding, dark).count()) / std::max(all, 1.0);
  const IntensityHistogram others = counts.above(dark);
  const bool as_of_mr = low >= -50 && darkness >= kMuch && others.percentile(50) > kAboveSoft;
  if (!bright_tissue && !as_of_mr) return "";
  return fmt::format(
      "begin at {:.0f}, where {:.1f} % of the voxels are, and the median of the others is {:.0f}, "
      "where HU are -1000 in air and 0 to 100 in tissue: as of MR, PET that is not in SUV, or raw "
      "values. MR is not supported, since its values have no unit; state HU by {} SLOPE,INTERCEPT, "
      "PET as a channel by {} ct,pet=SUV",
      low, 100 * darkness, others.percentile(50), Option{"rescale"}, Option{"channels"});
}

std::string not_suv(const Counts& counts, const IntensityStats& body) {
  if (counts.lowest() == 0 && counts.highest() == 1) {
    return "fill 0 to 1, as those of a PET that was divided by its maximum, not SUV; write SUV";
  }
  if (body.voxels == 0 || is_plausible(body, IntensityUnit::suv)) return "";
  return fmt::format(
      "have a mean of {:.4g} in the body and a percentile 0.5 of {:.4g}, where the mean of SUV is "
      "about 1 and none lies below 0: Bq/ml, counts or HU; write SUV",
      body.mean, body.low);
}

}  // namespace

bool is_plausible(const IntensityStats& body, IntensityUnit unit) {
  if (unit == IntensityUnit::suv) return body.low >= kLowestSuv && body.mean <= kHighestMeanSuv;
  return body.low <= kLowestOfCt;
}

ValueFindings judge_values(std::size_t channel, const IntensityHistogram& all,
                           const IntensityHistogram& body) {
  const IntensityUnit unit = all.unit();
  const Counts counts(all);
  const IntensityStats stats{body.count(), body.mean(), body.std(), body.percentile(0.5),
                             body.percentile(99.5)};
  const auto number = static_cast<double>(channel);
  ValueFindings findings;
  if (counts.all() == 0) return findings;
  findings.impossible = few_steps(counts, unit);
  if (!findings.impossible.empty()) {
    findings.notes.push_back(
        imaging::make_note(imaging::NoteCode::values_few,
                           {number, counts.lowest(), counts.highest(), counts.different()}));
    return findings;
  }
  findings.impossible = unit == IntensityUnit::hu ? not_hu(counts) : not_suv(counts, stats);
  if (!findings.impossible.empty() || (stats.voxels > 0 && !is_plausible(stats, unit))) {
    findings.notes.push_back(imaging::make_note(imaging::NoteCode::values_implausible,
                                                {number, stats.mean, stats.low, stats.high}));
  }
  const bool hu = unit == IntensityUnit::hu;
  if (hu && counts.lowest() > kLowestOfAir && counts.share_of_lowest() > kSome) {
    findings.notes.push_back(imaging::make_note(
        imaging::NoteCode::values_cut,
        {number, counts.lowest(), counts.highest(), 100 * counts.share_of_lowest()}));
  }
  return findings;
}

IntensityHistogram sampled_values(const std::int16_t* stored, const Shape3& shape_zyx,
                                  IntensityUnit unit) {
  const auto [depth, height, width] = shape_zyx;
  const std::int64_t step =
      std::max<std::int64_t>(1, (voxels_of(shape_zyx) + kSampledVoxels - 1) / kSampledVoxels);
  IntensityHistogram sample(unit);
  for (std::int64_t z = 0; z < depth; ++z) {
    for (std::int64_t y = z % step; y < height; y += step) {
      const std::int16_t* row = stored + (z * height + y) * width;
      for (std::int64_t x = 0; x < width; ++x) sample.add(row[x]);
    }
  }
  return sample;
}

}  // namespace headrace::ingest
