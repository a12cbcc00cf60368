#include "headrace/ingest/volume/volume_plan.hpp"

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/rounding.hpp"
#include "headrace/zarr/defaults.hpp"

namespace headrace::ingest {
namespace {

constexpr std::int64_t kSmallestLevel = 64;  // the pyramid ends when a level fits into this
constexpr double kNearlyIsotropic = 1.5;     // axes whose spacing is below this many smallest halve
constexpr int kMaxLevels = 20;

std::vector<VolumeLevelPlan> plan_levels(const Shape3& shape_zyx,
                                         const std::array<double, 3>& base_mm) {
  std::vector<VolumeLevelPlan> levels{{shape_zyx, {1, 1, 1}}};
  while (static_cast<int>(levels.size()) < kMaxLevels) {
    VolumeLevelPlan level = levels.back();
    if (*std::max_element(level.shape_zyx.begin(), level.shape_zyx.end()) <= kSmallestLevel) break;
    std::array<double, 3> spacing_mm{};
    for (std::size_t a = 0; a < 3; ++a) {
      spacing_mm[a] = base_mm[a] * static_cast<double>(level.factor_zyx[a]);
    }
    const double smallest = *std::min_element(spacing_mm.begin(), spacing_mm.end());
    for (std::size_t a = 0; a < 3; ++a) {
      if (!(spacing_mm[a] < kNearlyIsotropic * smallest)) continue;
      level.shape_zyx[a] = (level.shape_zyx[a] + 1) / 2;
      level.factor_zyx[a] *= 2;
    }
    levels.push_back(level);
  }
  return levels;
}

Json inner_codecs(const VolumePlan& plan, DType dtype) {
  // With one byte a voxel there are no bytes to shuffle.
  const std::string shuffle = size_of(dtype) > 1 ? zarr::kVolumeBloscShuffle : "noshuffle";
  if (plan.codec == VolumeCodec::zstd) return zarr::Codecs::zstd(dtype, plan.clevel);
  const bool lz4 = plan.codec == VolumeCodec::blosc_lz4;
  return zarr::Codecs::blosc(lz4 ? zarr::kVolumeLz4Compressor : "zstd", dtype, plan.clevel, shuffle,
                             lz4 ? zarr::kVolumeLz4BlockBytes : zarr::kVolumeZstdBlockBytes);
}

zarr::ArrayMetadata array_of(const VolumePlan& plan, int level, DType dtype) {
  const Shape3& shape = plan.levels[static_cast<std::size_t>(level)].shape_zyx;
  zarr::ArrayMetadata metadata;
  metadata.dtype = dtype;
  metadata.dimension_names = {"z", "y", "x"};
  for (const std::int64_t edge : shape) {
    metadata.shape.push_back(edge);
    // A level that is smaller than a shard gets a smaller one: its index then has no empty entries.
    metadata.chunk_shape.push_back(std::min(plan.shard, round_up(edge, plan.chunk)));
  }
  const std::int64_t c = plan.chunk;
  metadata.codecs =
      zarr::Codecs::sharded({c, c, c}, zarr::Codecs::checked(inner_codecs(plan, dtype)));
  return metadata;
}

std::int64_t chunk_of(const VolumeIngestOptions& options) {
  return options.chunk != 0 ? options.chunk : zarr::kVolumeInnerEdge;
}

std::int64_t shard_of(const VolumeIngestOptions& options) {
  if (options.shard != 0) return options.shard;
  const std::int64_t chunk = chunk_of(options);
  return std::max<std::int64_t>(1, zarr::kVolumeShardEdge / chunk) * chunk;
}

int level_of(const VolumeIngestOptions& options) {
  if (options.clevel >= 0) return options.clevel;
  if (options.codec == VolumeCodec::zstd) return zarr::kVolumeZstdLevel;
  return options.codec == VolumeCodec::blosc_lz4 ? zarr::kVolumeLz4Level : zarr::kVolumeBloscLevel;
}

}  // namespace

zarr::ArrayMetadata VolumePlan::image_array(int level, IntensityUnit unit) const {
  zarr::ArrayMetadata metadata = array_of(*this, level, DType::int16);
  const auto outside = static_cast<std::uint16_t>(stored_outside(unit));
  metadata.fill_value = {std::byte(outside & 255), std::byte(outside >> 8)};  // little-endian
  return metadata;
}

zarr::ArrayMetadata VolumePlan::label_array(int level) const {
  zarr::ArrayMetadata metadata = array_of(*this, level, DType::uint8);
  metadata.fill_value = {std::byte{0}};
  return metadata;
}

void check_volume_chunks(const VolumeIngestOptions& options) {
  const std::int64_t chunk = chunk_of(options), shard = shard_of(options);
  if (chunk < 8 || chunk > 256 || chunk % 8 != 0) {
    fail(ErrorCode::usage, "{} {}: must be a multiple of 8 from 8 to 256", Option{"chunk"}, chunk);
  }
  if (shard < chunk || shard % chunk != 0 || shard > 1024) {
    fail(ErrorCode::usage, "{} {}: must be a multiple of the chunk ({}) and at most 1024",
         Option{"shard"}, shard, chunk);
  }
}

VolumePlan plan_volume(const imaging::VolumeGrid& file, const VolumeIngestOptions& options) {
  check_volume_chunks(options);
  VolumePlan plan;
  const imaging::CanonicalGrid canonical = imaging::canonical_grid(file);
  plan.grid = canonical.grid;
  plan.file_grid = file;
  plan.from_file = canonical.from_file;
  plan.levels = plan_levels(plan.grid.shape_zyx, plan.spacing_mm_zyx());
  plan.chunk = chunk_of(options);
  plan.shard = shard_of(options);
  plan.codec = options.codec;
  plan.clevel = level_of(options);
  plan.align = static_cast<std::size_t>(std::max<std::int64_t>(1, options.align));
  return plan;
}

}  // namespace headrace::ingest
