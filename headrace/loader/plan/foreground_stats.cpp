#include "headrace/loader/plan/foreground_stats.hpp"

#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/loader/plan/plan_images.hpp"

namespace headrace::loader::detail {
namespace {

double percentile(const std::map<std::int32_t, std::uint64_t>& voxels_of_stored,
                  std::uint64_t voxels, double percent) {
  const double place = percent / 100 * static_cast<double>(voxels - 1);
  const auto low = static_cast<std::uint64_t>(place);
  const auto at_rank = [&](std::uint64_t rank) {
    std::uint64_t below = 0;
    for (const auto& [stored, count] : voxels_of_stored) {
      below += count;
      if (rank < below) return static_cast<double>(stored);
    }
    return static_cast<double>(voxels_of_stored.rbegin()->first);
  };
  const double a = at_rank(low), b = at_rank(low + 1);
  return a + (b - a) * (place - static_cast<double>(low));
}

}  // namespace

IntensityStats stats_of_histogram(const std::map<std::int32_t, std::uint64_t>& voxels_of_stored,
                                  IntensityUnit unit) {
  IntensityStats stats;
  std::int64_t sum = 0;  // |stored| ≤ 2^15: room for 2^48 voxels
  for (const auto& [stored, count] : voxels_of_stored) {
    stats.voxels += count;
    sum += stored * static_cast<std::int64_t>(count);
  }
  if (stats.voxels == 0) return stats;
  stats.mean = static_cast<double>(sum) / static_cast<double>(stats.voxels);
  double squares = 0;
  for (const auto& [stored, count] : voxels_of_stored)
    squares += (stored - stats.mean) * (stored - stats.mean) * static_cast<double>(count);
  stats.std = std::sqrt(squares / static_cast<double>(stats.voxels));
  stats.low = percentile(voxels_of_stored, stats.voxels, 0.5);
  stats.high = percentile(voxels_of_stored, stats.voxels, 99.5);
  for (double* value : {&stats.mean, &stats.std, &stats.low, &stats.high})
    *value /= stored_per_unit(unit);
  return stats;
}

IntensityStats foreground_stats(const cohort::Cohort& cohort, const LoaderConfig& config,
                                std::size_t channel) {
  std::map<std::int32_t, std::uint64_t> voxels_of_stored;
  bool there = false;
  for (const std::uint32_t image :
       images_of_split(cohort, config, config.data.train, "data.train")) {
    const auto& channels = cohort.images()[image].volume->channels;
    if (!channels.empty() && !channels[channel].stored) continue;
    there = true;
    const cohort::VolumeHistogram histogram = cohort.histogram(image, config.data.labels, channel);
    for (std::size_t i = 0; i < histogram.stored.size(); ++i) {
      if (histogram.foreground[i] > 0)
        voxels_of_stored[histogram.stored[i]] += histogram.foreground[i];
    }
  }
  const std::string of =
      cohort.channels().empty() ? "" : fmt::format(" of channel '{}'", cohort.channels()[channel]);
  if (!there) {
    fail(ErrorCode::usage,
         "{}: a transform needs the intensities{} under the labels, but every image of split '{}' "
         "lacks it. Leave it out of data.channels, or add it to some",
         cohort.path(), of, config.data.train);
  }
  if (voxels_of_stored.empty()) {
    fail(ErrorCode::usage,
         "{}: a transform needs the intensities{} under the labels, but no image of split '{}' has "
         "a voxel of a class other than background{}. Use those of the patient, or ingest with "
         "labels",
         cohort.path(), of, config.data.train, of.empty() ? "" : " there");
  }
  return stats_of_histogram(voxels_of_stored, cohort.unit_of(channel));
}

}  // namespace headrace::loader::detail
