#include "learn/measure/volume/volume_figures.hpp"

#include <algorithm>
#include <cmath>

#include "headrace/core/cancel.hpp"
#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"
#include "learn/measure/volume/lesion_calls.hpp"
#include "learn/measure/volume/lesion_match.hpp"
#include "learn/measure/volume/surface_distance.hpp"

namespace headrace::measure {
namespace {

using pixels::BitVolume;
using pixels::Components;
using Axes = std::array<std::int64_t, 3>;

constexpr double kHausdorffPart = 0.95;

/// A box of voxels; `high` is one past the last.
struct Box {
  Axes low{INT64_MAX, INT64_MAX, INT64_MAX}, high{0, 0, 0};
  void hold(const Axes& at) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], at[axis]);
      high[axis] = std::max(high[axis], at[axis] + 1);
    }
  }
};

/// Voxels of a box for which `set` of their place in memory holds.
template <typename Set>
BitVolume bits_where(const VolumeView& volume, const Box& box, const Set& set) {
  const auto& [low, high] = box;
  BitVolume mask({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
  const auto [depth, height, width] = volume.shape_zyx;
  for (std::int64_t z = low[0]; z < high[0]; ++z) {
    for (std::int64_t y = low[1]; y < high[1]; ++y) {
      std::uint64_t* row = mask.row(z - low[0], y - low[1]);
      const std::int64_t start = (z * height + y) * width;
      for (std::int64_t x = low[2]; x < high[2]; ++x) {
        const std::int64_t bit = x - low[2];
        row[bit >> 6] |= std::uint64_t{set(static_cast<std::size_t>(start + x))} << (bit & 63);
      }
    }
  }
  return mask;
}

/// Counts voxels; returns the box around each class, in truth or prediction.
std::vector<Box> count_voxels(const VolumeView& volume, const VolumeRules& rules,
                              VolumeFigures& out) {
  const std::size_t classes = rules.classes, values = classes + rules.class_sets.size();
  std::vector<Box> boxes(classes);
  const auto [depth, height, width] = volume.shape_zyx;
  std::size_t i = 0;
  for (std::int64_t z = 0; z < depth; ++z) {
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x, ++i) {
        const std::uint8_t truth = volume.truth[i], predicted = volume.predicted[i];
        if (truth == kIgnoreLabel) continue;
        if (truth >= values) {
          fail(
              ErrorCode::malformed,
              "label {} at voxel z {}, y {}, x {}; expected 0 to {}, or 255 where nothing is annotated.",
              truth, z, y, x, values - 1);
        }
        if (truth >= classes) {
          ++out.set_voxels;
          continue;
        }
        out.confusion.add(truth, predicted);
        if (truth != 0) boxes[truth].hold({z, y, x});
        if (predicted != 0) boxes[predicted].hold({z, y, x});
      }
    }
  }
  return boxes;
}

double diagonal_mm(const VolumeView& volume) {
  double sum = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double edge = static_cast<double>(volume.shape_zyx[axis]) * volume.spacing_mm_zyx[axis];
    sum += edge * edge;
  }
  return std::sqrt(sum);
}

void measure_surfaces(const VolumeView& volume, const VolumeRules& rules,
                      const std::vector<Box>& boxes, VolumeFigures& out) {
  for (std::size_t c = 1; c < rules.classes; ++c) {
    stop_if_cancelled();
    if (!out.confusion.told(c)) continue;
    if (out.confusion.truth_sum(c) + out.confusion.predicted_sum(c) == 0) continue;
    const BitVolume truth =
        bits_where(volume, boxes[c], [&](std::size_t i) { return volume.truth[i] == c; });
    const BitVolume predicted = bits_where(volume, boxes[c], [&](std::size_t i) {
      return volume.truth[i] < rules.classes && volume.predicted[i] == c;
    });
    const SurfaceDistances distances = surface_distances(truth, predicted, volume.spacing_mm_zyx);
    out.surface_dice[c] = surface_dice(distances, rules.surface_tolerance_mm);
    out.hd95_mm[c] = robust_hausdorff_mm(distances, kHausdorffPart);
    out.hd95_penalised_mm[c] = out.hd95_mm[c].value_or(diagonal_mm(volume));
  }
}

/// A finding with this number of voxels, whose places sum up to half of `doubled`.
LesionFinding finding_of(std::uint64_t voxels, const Axes& doubled, double voxel_mm3) {
  LesionFinding out;
  out.voxels = voxels;
  out.volume_mm3 = static_cast<double>(voxels) * voxel_mm3;
  for (std::size_t axis = 0; axis < 3; ++axis)
    out.centre_zyx[axis] = static_cast<double>(doubled[axis]) / (2 * static_cast<double>(voxels));
  return out;
}

std::vector<LesionFinding> describe(const Components& components, double voxel_mm3) {
  std::vector<Axes> doubled(components.sizes.size());  // sums of 2·(place + 0.5): exact
  for (const pixels::Run& run : components.runs) {
    const std::int64_t count = run.x1 - run.x0;
    auto& sum = doubled[run.component];
    sum[0] += count * (2 * std::int64_t{run.z} + 1);
    sum[1] += count * (2 * std::int64_t{run.y} + 1);
    sum[2] += count * (std::int64_t{run.x0} + run.x1);
  }
  std::vector<LesionFinding> out;
  for (std::size_t k = 0; k < doubled.size(); ++k)
    out.push_back(finding_of(components.sizes[k], doubled[k], voxel_mm3));
  return out;
}

void find_lesions(const VolumeView& volume, const VolumeRules& rules, VolumeFigures& out) {
  const auto [z, y, x] = volume.spacing_mm_zyx;
  const double voxel_mm3 = z * y * x;
  const auto membership = rules.lesion_membership();
  const Components lesions = find_components(
      bits_where(volume, {{0, 0, 0}, volume.shape_zyx},
                 [&](std::size_t i) { return membership[volume.truth[i]] == Membership::inside; }),
      pixels::Neighbours::everything);
  const auto calls =
      find_calls(volume.lesion, volume.shape_zyx, score_of(static_cast<float>(rules.lesion_lowest)),
                 least_call_voxels(rules.lesion_min_mm3, voxel_mm3), lesions);
  out.lesions = describe(lesions, voxel_mm3);
  const auto matches = match_lesions(lesions.sizes, calls, rules.lesion_overlap);
  for (std::size_t k = 0; k < calls.size(); ++k) {
    LesionFinding finding = finding_of(calls[k].voxels, calls[k].doubled_zyx, voxel_mm3);
    finding.score = probability_of(calls[k].score);
    finding.matched = matches[k].lesion >= 0;
    finding.overlap = matches[k].overlap;
    out.calls.push_back(finding);
    if (!finding.matched) continue;
    LesionFinding& lesion = out.lesions[static_cast<std::size_t>(matches[k].lesion)];
    lesion.matched = true;
    lesion.score = finding.score;
    lesion.overlap = finding.overlap;
  }
}

}  // namespace

std::vector<Membership> VolumeRules::lesion_membership() const {
  std::vector<bool> region(classes, false);
  for (const std::uint8_t value : lesion_classes) region.at(value) = true;
  return region_membership(region, class_sets);
}

std::optional<std::string> VolumeFigures::structure(std::size_t c) const {
  if (!annotated() || !confusion.told(c)) return std::nullopt;
  const bool said = confusion.predicted_sum(c) > 0;
  if (confusion.truth_sum(c) > 0) return said ? "found" : "missed";
  return said ? "invented" : "absent";
}

ScanCalls VolumeFigures::scan() const {
  ScanCalls out;
  out.lesions = lesions.size();
  for (const LesionFinding& call : calls) out.calls.push_back({call.score, call.matched});
  return out;
}

VolumeFigures measure_volume(const VolumeView& volume, const VolumeRules& rules) {
  VolumeFigures out(rules.classes, rules.untold);
  const std::vector<Box> boxes = count_voxels(volume, rules, out);
  if (!out.annotated()) return out;
  measure_surfaces(volume, rules, boxes, out);
  if (!rules.lesion_classes.empty()) find_lesions(volume, rules, out);
  return out;
}

}  // namespace headrace::measure
