#include "learn/train/evaluate/evaluation_memory.hpp"

#include <algorithm>

#include "headrace/loader/plan/level_choice.hpp"
#include "headrace/loader/plan/tile_corners.hpp"
#include "learn/inference/late_parts.hpp"
#include "learn/train/evaluate/gathered_tiles.hpp"

namespace headrace::train {
namespace {

using loader::detail::patch_extent;

constexpr double kFloat = sizeof(float);
constexpr double kMeterBytes = 4 + 3.0 / 8;  ///< a voxel: VolumeMeter, and bits while it measures

/// Means of all classes, their weight and the truth of what is stitched.
double stitched_bytes(double pixels, double classes) {
  return pixels * ((classes + 1) * kFloat + 1);
}

double slide_bytes(const cohort::ImageRecord& image, const config::RunConfig& config,
                   double classes) {
  const auto mpp = loader::level_mpp_yx(image, 0, config);
  const std::int64_t width = patch_extent(image.levels.front().width, config.patch.mpp / mpp[1]);
  return stitched_bytes(static_cast<double>(width) * config.patch.height, classes);
}

double volume_bytes(const cohort::ImageRecord& image, const config::RunConfig& config,
                    double classes) {
  const auto& shape = image.volume->levels.front().shape_zyx;
  const auto spacing = loader::level_spacing_mm_zyx(image, 0, config);
  const auto extent = [&](std::size_t axis) {
    const double step = config.volume_patch.spacing_mm_zyx[axis] / spacing[axis];
    return static_cast<double>(patch_extent(shape[axis], step));
  };
  const double slice = static_cast<double>(shape[1]) * static_cast<double>(shape[2]);
  return stitched_bytes(extent(1) * extent(2) * config.volume_patch.size_zyx[0], classes) +
         3 * classes * slice * kFloat + kMeterBytes * slice * static_cast<double>(shape[0]);
}

}  // namespace

double evaluation_bytes(const cohort::Cohort& cohort, const config::RunConfig& config,
                        const loader::Preprocessing& preprocessing, const std::string& split,
                        const EvaluatedBy& by) {
  const auto classes = static_cast<double>(cohort.classes().size());
  double most = 0;
  for (const cohort::ImageRecord& image : cohort.images()) {
    if (image.split != split) continue;
    most = std::max(most, (image.volume ? volume_bytes : slide_bytes)(image, config, classes));
  }
  const auto& size = config.volume_patch.size_zyx;
  const double pixels = config.volumes
                            ? static_cast<double>(size[0]) * size[1] * size[2]
                            : static_cast<double>(config.patch.height) * config.patch.width;
  const auto contexts = config.volumes ? 1.0 : static_cast<double>(config.patch.context.size());
  const auto channels = static_cast<double>(loader::channel_count(preprocessing, config));
  const double sample = pixels * (contexts * channels * kFloat + 1);
  const auto batch = static_cast<double>(config.tiles.batch);
  // LibTorch takes page-locked memory in powers of two.
  const double under_way = by.late ? 2.0 * inference::LateParts::kMostBytes : 0.0;
  const double own = batch * ((config.loader.prefetch + 1) * sample + pixels * classes * kFloat);
  return most + under_way + by.processes * own +
         GatheredTiles::bytes(by.processes, cohort.classes().size(), config);
}

}  // namespace headrace::train
