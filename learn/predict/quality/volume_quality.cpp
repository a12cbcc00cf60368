#include "learn/predict/quality/volume_quality.hpp"

#include <algorithm>
#include <array>

#include "headrace/core/error.hpp"
#include "headrace/ingest/volume/value_check.hpp"

namespace headrace::predict {
namespace {

using Remarks = std::vector<Remark>;
using Zyx = std::array<double, 3>;

constexpr double kMm3PerLitre = 1e6;

/// Length of the volume and of the run's patch along each axis: millimetres, or voxels where the
/// run has no spacing.
struct Extent {
  Zyx volume{}, patch{};
};

Extent extent_of(const cohort::VolumeLevel& level, const config::RunConfig& config) {
  Extent extent;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const bool voxels = config.patch_in_level0_pixels;
    extent.volume[axis] =
        static_cast<double>(level.shape_zyx[axis]) * (voxels ? 1 : level.spacing_mm_zyx[axis]);
    extent.patch[axis] = static_cast<double>(config.volume_patch.size_zyx[axis]) *
                         (voxels ? 1 : config.volume_patch.spacing_mm_zyx[axis]);
  }
  return extent;
}

void judge_extent(Remarks& out, const cohort::VolumeRecord& volume,
                  const config::RunConfig& config) {
  const cohort::VolumeLevel& level = volume.levels.front();
  const auto [size, patch] = extent_of(level, config);
  const bool in_mm = !config.patch_in_level0_pixels;
  if (volume.body.voxels == 0) {
    out.push_back(make_remark(QualityCode::no_body, Severity::warning));
  } else if (in_mm) {
    const auto& mm = level.spacing_mm_zyx;
    const double body =
        static_cast<double>(volume.body.voxels) * mm[0] * mm[1] * mm[2] / kMm3PerLitre;
    const double litres = patch[0] * patch[1] * patch[2] / kMm3PerLitre;
    if (body < litres)
      out.push_back(make_remark(QualityCode::little_body, Severity::note, {body, litres}));
  }
  double least = 1;  // the volume's part of the patch
  for (std::size_t axis = 0; axis < 3; ++axis) least = std::min(least, size[axis] / patch[axis]);
  if (least < 1) {
    out.push_back(make_remark(
        QualityCode::smaller_than_patch, least < 0.5 ? Severity::warning : Severity::note,
        {size[0], size[1], size[2], patch[0], patch[1], patch[2], in_mm ? 1.0 : 0.0}));
  }
}

void judge_spacing(Remarks& out, const cohort::VolumeLevel& level,
                   const config::RunConfig& config) {
  if (config.patch_in_level0_pixels) return;
  const Zyx &own = level.spacing_mm_zyx, &run = config.volume_patch.spacing_mm_zyx;
  double ratio = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) ratio = std::max(ratio, own[axis] / run[axis]);
  if (ratio < kCoarseSpacing) return;
  out.push_back(make_remark(QualityCode::coarse_spacing, Severity::warning,
                            {own[0], own[1], own[2], run[0], run[1], run[2], ratio}));
}

/// A channel of the model's input, in the image's store.
struct Channel {
  double number = 0;   ///< in the model's input
  std::size_t stored;  ///< in the store
  bool present = true;
  IntensityStats body, foreground;  ///< of the image; of the training
  IntensityUnit unit = IntensityUnit::hu;
};

std::vector<Channel> channels_of(const cohort::VolumeRecord& volume,
                                 const loader::Preprocessing& preprocessing,
                                 const std::vector<std::size_t>& stored) {
  if (preprocessing.channels.empty())
    return {{0, stored.front(), true, volume.body, preprocessing.foreground, IntensityUnit::hu}};
  std::vector<Channel> channels;
  for (std::size_t c = 0; c < stored.size(); ++c) {
    const auto& own = volume.channels.at(stored[c]);
    const auto& run = preprocessing.channels[c];
    channels.push_back(
        {static_cast<double>(c), stored[c], own.stored, own.body, run.foreground, run.unit});
  }
  return channels;
}

/// Share of the body's voxels whose values lie from `low` to `high`, in the channel's unit.
double share_between(const cohort::VolumeHistogram& histogram, const Channel& channel) {
  const double scale = stored_per_unit(channel.unit);
  std::uint64_t all = 0, inside = 0;
  for (std::size_t i = 0; i < histogram.stored.size(); ++i) {
    const double value = static_cast<double>(histogram.stored[i]) / scale;
    all += histogram.body[i];
    if (value >= channel.foreground.low && value <= channel.foreground.high)
      inside += histogram.body[i];
  }
  return all == 0 ? 0 : static_cast<double>(inside) / static_cast<double>(all);
}

void judge_intensities(Remarks& out, const cohort::Cohort& cohort, std::size_t image,
                       const Channel& channel) {
  const IntensityStats& run = channel.foreground;
  if (run.voxels == 0 || channel.body.voxels == 0) return;
  const double share = share_between(cohort.histogram(image, "", channel.stored), channel);
  if (share >= kKnownShare) return;
  const double difference = run.std > 0 ? (channel.body.mean - run.mean) / run.std : 0;
  out.push_back(make_remark(QualityCode::intensity_differs, Severity::warning,
                            {channel.number, share, run.low, run.high, difference}));
}

}  // namespace

Remarks volume_quality(const cohort::Cohort& cohort, std::size_t image,
                       const loader::Preprocessing& preprocessing,
                       const config::RunConfig& config) {
  const cohort::ImageRecord& record = cohort.images().at(image);
  if (!record.volume) fail(ErrorCode::usage, "image {}: is a slide, not a volume", record.id);
  const cohort::VolumeRecord& volume = *record.volume;
  const auto channels =
      channels_of(volume, preprocessing, loader::stored_channels(preprocessing, cohort));
  Remarks remarks;
  judge_extent(remarks, volume, config);
  judge_spacing(remarks, volume.levels.front(), config);
  for (const Channel& channel : channels) {
    if (!channel.present) {
      remarks.push_back(
          make_remark(QualityCode::channel_missing, Severity::warning, {channel.number}));
    } else if (channel.body.voxels > 0 && !ingest::is_plausible(channel.body, channel.unit)) {
      const IntensityStats& body = channel.body;
      remarks.push_back(make_remark(QualityCode::unit_implausible, Severity::warning,
                                    {channel.number, body.mean, body.low, body.high}));
    }
  }
  for (const Channel& channel : channels) {
    if (channel.present) judge_intensities(remarks, cohort, image, channel);
  }
  return remarks;
}

}  // namespace headrace::predict
