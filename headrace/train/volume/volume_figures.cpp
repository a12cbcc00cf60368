#include "headrace/train/volume/volume_figures.hpp"

#include <algorithm>
#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/core/ignore_label.hpp"
#include "headrace/train/volume/lesion_match.hpp"
#include "headrace/train/volume/surface_distance.hpp"

namespace headrace::train {
namespace {

using imaging::BitVolume;
using imaging::Components;

constexpr double kHausdorffPart = 0.95;

/// Voxels (by their place in memory) for which `set` holds.
template <typename Set>
BitVolume bits_where(const std::array<std::int64_t, 3>& shape, const Set& set) {
  BitVolume mask(shape);
  std::size_t i = 0;
  for (std::int64_t z = 0; z < shape[0]; ++z) {
    for (std::int64_t y = 0; y < shape[1]; ++y) {
      std::uint64_t* row = mask.row(z, y);
      for (std::int64_t x = 0; x < shape[2]; ++x, ++i)
        row[x >> 6] |= std::uint64_t{set(i)} << (x & 63);
    }
  }
  return mask;
}

void count_voxels(const BlendedVolume& volume, VolumeFigures& out) {
  const std::size_t classes = out.confusion.classes();
  for (std::size_t i = 0; i < volume.truth.size(); ++i) {
    const std::uint8_t truth = volume.truth[i], predicted = volume.predicted[i];
    if (truth == kIgnoreLabel || predicted == kIgnoreLabel) continue;
    if (truth >= classes) {
      const auto [depth, height, width] = volume.shape_zyx;
      const auto at = static_cast<std::int64_t>(i);
      fail(ErrorCode::malformed,
           "label {} at voxel z {}, y {}, x {}; the store has classes 0 to {}.", truth,
           at / (height * width), at / width % height, at % width, classes - 1);
    }
    out.confusion.add(truth, predicted);
  }
}

void measure_surfaces(const BlendedVolume& volume, const VolumeRules& rules, VolumeFigures& out) {
  for (std::size_t c = 1; c < rules.classes; ++c) {
    if (out.confusion.truth_sum(c) + out.confusion.predicted_sum(c) == 0) continue;
    const auto seen = [&](std::size_t i) {
      return volume.truth[i] != kIgnoreLabel && volume.predicted[i] != kIgnoreLabel;
    };
    const BitVolume truth = bits_where(
        volume.shape_zyx, [&](std::size_t i) { return seen(i) && volume.truth[i] == c; });
    const BitVolume predicted = bits_where(
        volume.shape_zyx, [&](std::size_t i) { return seen(i) && volume.predicted[i] == c; });
    const SurfaceDistances distances = surface_distances(truth, predicted, volume.spacing_mm_zyx);
    out.surface_dice[c] = surface_dice(distances, rules.surface_tolerance_mm);
    out.hd95_mm[c] = robust_hausdorff_mm(distances, kHausdorffPart);
  }
}

/// Size and centre of every component.
std::vector<LesionFinding> describe(const Components& components, double voxel_mm3) {
  std::vector<LesionFinding> out(components.sizes.size());
  std::vector<std::array<std::int64_t, 3>> doubled(out.size());  // sums of 2·(place + 0.5): exact
  for (const imaging::Run& run : components.runs) {
    const std::int64_t count = run.x1 - run.x0;
    auto& sum = doubled[run.component];
    sum[0] += count * (2 * run.z + 1);
    sum[1] += count * (2 * run.y + 1);
    sum[2] += count * (std::int64_t{run.x0} + run.x1);
  }
  for (std::size_t k = 0; k < out.size(); ++k) {
    out[k].voxels = components.sizes[k];
    out[k].volume_mm3 = static_cast<double>(out[k].voxels) * voxel_mm3;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      out[k].centre_zyx[axis] =
          static_cast<double>(doubled[k][axis]) / (2 * static_cast<double>(out[k].voxels));
    }
  }
  return out;
}

/// Drops components of fewer than `least` voxels.
Components without_small(const Components& all, double least) {
  Components kept;
  std::vector<std::int64_t> number(all.sizes.size(), -1);
  for (std::size_t k = 0; k < all.sizes.size(); ++k) {
    if (static_cast<double>(all.sizes[k]) < least) continue;
    number[k] = static_cast<std::int64_t>(kept.sizes.size());
    kept.sizes.push_back(all.sizes[k]);
  }
  for (const imaging::Run& run : all.runs) {
    if (number[run.component] < 0) continue;
    kept.runs.push_back(run);
    kept.runs.back().component = static_cast<std::uint32_t>(number[run.component]);
  }
  return kept;
}

std::vector<double> highest(const BlendedVolume& volume, const Components& calls) {
  std::vector<std::uint16_t> best(calls.sizes.size(), 0);
  for (const imaging::Run& run : calls.runs) {
    const auto row =
        static_cast<std::size_t>((run.z * volume.shape_zyx[1] + run.y) * volume.shape_zyx[2]);
    for (auto x = static_cast<std::size_t>(run.x0); x < static_cast<std::size_t>(run.x1); ++x)
      best[run.component] = std::max(best[run.component], volume.lesion[row + x]);
  }
  std::vector<double> scores;
  for (const std::uint16_t value : best) scores.push_back(value / 65535.0);
  return scores;
}

void find_lesions(const BlendedVolume& volume, const VolumeRules& rules, VolumeFigures& out) {
  const auto [z, y, x] = volume.spacing_mm_zyx;
  const double voxel_mm3 = z * y * x;
  std::array<bool, 256> is_lesion{};
  for (const std::uint8_t value : rules.lesion_classes) is_lesion[value] = true;
  const auto threshold = static_cast<std::uint16_t>(std::lround(rules.lesion_probability * 65535));
  const Components lesions = find_components(
      bits_where(volume.shape_zyx,
                 [&](std::size_t i) {
                   return volume.predicted[i] != kIgnoreLabel && is_lesion[volume.truth[i]];
                 }),
      imaging::Neighbours::everything);
  const Components calls =
      without_small(find_components(bits_where(volume.shape_zyx,
                                               [&](std::size_t i) {
                                                 return volume.truth[i] != kIgnoreLabel &&
                                                        volume.predicted[i] != kIgnoreLabel &&
                                                        volume.lesion[i] >= threshold;
                                               }),
                                    imaging::Neighbours::everything),
                    rules.lesion_min_mm3 / voxel_mm3);
  out.lesions = describe(lesions, voxel_mm3);
  const auto described = describe(calls, voxel_mm3);
  for (const LesionCall& call :
       match_lesions(lesions, calls, highest(volume, calls), rules.lesion_overlap)) {
    LesionFinding finding = described[call.component];
    finding.score = call.score;
    finding.matched = call.lesion >= 0;
    finding.overlap = call.overlap;
    out.calls.push_back(finding);
    if (call.lesion < 0) continue;
    LesionFinding& lesion = out.lesions[static_cast<std::size_t>(call.lesion)];
    lesion.matched = true;
    lesion.score = call.score;
    lesion.overlap = call.overlap;
  }
}

}  // namespace

ScanCalls VolumeFigures::scan() const {
  ScanCalls out;
  out.lesions = lesions.size();
  for (const LesionFinding& call : calls) out.calls.push_back({call.score, call.matched});
  return out;
}

VolumeFigures measure_volume(const BlendedVolume& volume, const VolumeRules& rules) {
  VolumeFigures out(rules.classes);
  count_voxels(volume, out);
  if (!out.annotated()) return out;
  measure_surfaces(volume, rules, out);
  if (!rules.lesion_classes.empty()) find_lesions(volume, rules, out);
  return out;
}

}  // namespace headrace::train
