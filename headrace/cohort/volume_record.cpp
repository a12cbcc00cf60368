#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headrace/cohort/image_record.hpp"
#include "headrace/core/error.hpp"

namespace headrace::cohort {

IntensityUnit parse_channel_unit(const Json& json, const std::string& where) {
  const auto name = detail::require<std::string>(json, "unit", where);
  const auto unit = unit_named(name);
  const double scale = json.contains("scale") ? detail::require<double>(json, "scale", where) : 1.0;
  if (!unit || scale != 1.0 / stored_per_unit(*unit)) {
    fail(
        ErrorCode::unsupported,
        "{}: unit '{}' with scale {}, this version reads HU and SUV in hundredths. Use the version "
        "that wrote it",
        where, name, scale);
  }
  return *unit;
}

namespace detail {
namespace {

std::vector<VolumeLevel> parse_volume_levels(const Json& own, const std::string& origin) {
  using Shapes = std::vector<std::array<std::int64_t, 3>>;
  using Factors = std::vector<std::array<double, 3>>;
  const auto shapes = require<Shapes>(own, "levels", origin);
  const auto factors = require<Factors>(own, "downsample", origin);
  const auto spacing = require<std::array<double, 3>>(own, "spacing_mm", origin);
  if (shapes.empty() || shapes.size() != factors.size()) {
    fail(ErrorCode::malformed,
         "{}: 'levels' states {} sizes, 'downsample' {}; both must be of every level", origin,
         shapes.size(), factors.size());
  }
  std::vector<VolumeLevel> levels;
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    VolumeLevel& level = levels.emplace_back();
    level.shape_zyx = shapes[k];
    level.downsample_zyx = factors[k];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool possible = shapes[k][axis] > 0 && factors[k][axis] >= 1 && spacing[axis] > 0 &&
                            std::isfinite(factors[k][axis]) && std::isfinite(spacing[axis]);
      if (!possible || (k == 0 && factors[k][axis] != 1)) {
        fail(ErrorCode::malformed,
             "{}: level {} has {} voxels, downsample {} and level-0 spacing {} mm along axis {}",
             origin, k, shapes[k][axis], factors[k][axis], spacing[axis], axis);
      }
      level.spacing_mm_zyx[axis] = spacing[axis] * factors[k][axis];
    }
  }
  return levels;
}

IntensityStats parse_body(const Json& own, const std::string& origin) {
  const Json& body = require_field(own, "body", origin);
  const std::string where = origin + ", 'body'";
  IntensityStats stats;
  stats.voxels = require<std::uint64_t>(body, "voxels", where);
  if (stats.voxels == 0) return stats;
  stats.mean = require<double>(body, "mean", where);
  stats.std = require<double>(body, "std", where);
  stats.low = require<double>(body, "p00_5", where);
  stats.high = require<double>(body, "p99_5", where);
  return stats;
}

std::vector<VolumeChannel> parse_channels(const Json& own, const std::string& origin) {
  std::vector<VolumeChannel> channels;
  for (const Json& json : own.value("channels", Json::array())) {
    const std::string where = fmt::format("{}, channel {}", origin, channels.size());
    VolumeChannel& channel = channels.emplace_back();
    channel.name = require<std::string>(json, "name", where);
    channel.stored = require<bool>(json, "stored", where);
    channel.unit = parse_channel_unit(json, where);
    if (channel.stored) channel.body = parse_body(json, where);
  }
  if (!channels.empty() && !channels.front().stored) {
    fail(ErrorCode::malformed, "{}: the first channel is not stored", origin);
  }
  return channels;
}

void parse_file_grid(const Json& own, const std::string& origin, VolumeRecord& volume) {
  const Json& json = require_field(own, "file_grid", origin);
  const std::string where = origin + ", 'file_grid'";
  volume.file_grid.shape_zyx = require<std::array<std::int64_t, 3>>(json, "shape_zyx", where);
  volume.file_grid.affine_lps = require<std::array<double, 16>>(json, "affine_lps", where);
  volume.from_file.axis = require<std::array<int, 3>>(json, "axis_of_xyz", where);
  volume.from_file.flip = require<std::array<bool, 3>>(json, "reversed_xyz", where);
  auto axes = volume.from_file.axis;
  std::sort(axes.begin(), axes.end());
  bool fits = axes == std::array<int, 3>{0, 1, 2};
  for (std::size_t j = 0; fits && j < 3; ++j) {
    const auto from = static_cast<std::size_t>(volume.from_file.axis[j]);
    fits = volume.file_grid.shape_zyx[2 - from] == volume.levels[0].shape_zyx[2 - j];
  }
  if (!fits) {
    fail(ErrorCode::malformed,
         "{}: axes {}, {}, {} of {}x{}x{} voxels (x, y, z) do not give the stored level 0", where,
         volume.from_file.axis[0], volume.from_file.axis[1], volume.from_file.axis[2],
         volume.file_grid.shape_zyx[2], volume.file_grid.shape_zyx[1],
         volume.file_grid.shape_zyx[0]);
  }
}

}  // namespace

VolumeRecord parse_volume_record(const Json& own, const std::string& origin) {
  VolumeRecord volume;
  volume.levels = parse_volume_levels(own, origin);
  volume.affine_lps = require<std::array<double, 16>>(own, "affine_lps", origin);
  parse_file_grid(own, origin, volume);
  volume.body = parse_body(own, origin);
  volume.channels = parse_channels(own, origin);
  return volume;
}

}  // namespace detail
}  // namespace headrace::cohort
