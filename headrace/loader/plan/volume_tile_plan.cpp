#include "headrace/loader/plan/volume_tile_plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "headrace/core/threads.hpp"
#include "headrace/loader/plan/level_choice.hpp"
#include "headrace/loader/plan/plan_images.hpp"
#include "headrace/loader/plan/tile_corners.hpp"

namespace headrace::loader::detail {
std::array<std::array<std::int64_t, 3>, 2> body_box(const cohort::VolumeCellIndex& cells,
                                                    const std::array<std::int64_t, 3>& shape_zyx) {
  std::array<std::int64_t, 3> low = shape_zyx, high{};
  for (const auto& cell : cells.cell_zyx) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t from = std::int64_t{cell[axis]} * cells.cell_size_zyx[axis];
      low[axis] = std::min(low[axis], from);
      high[axis] =
          std::max(high[axis], std::min(from + cells.cell_size_zyx[axis], shape_zyx[axis]));
    }
  }
  if (cells.cell_zyx.empty()) return {std::array<std::int64_t, 3>{}, shape_zyx};
  return {low, high};
}

namespace {

struct Tile {
  std::uint32_t image = 0;
  std::array<std::int64_t, 3> start_zyx{};  ///< patch voxels
};

class VolumeTilePlan : public SamplePlan {
 public:
  VolumeTilePlan(const cohort::Cohort& cohort, const LoaderConfig& config,
                 const std::vector<std::uint32_t>& images, Beyond beyond);

  SampleSite site(std::uint64_t, std::uint64_t index) const override;
  std::uint64_t samples_per_epoch() const override { return tiles_.size(); }
  bool random() const override { return false; }

 private:
  std::vector<Tile> tiles_of(const cohort::Cohort& cohort, const LoaderConfig& config,
                             std::uint32_t image, Beyond beyond) const;

  std::array<std::int32_t, 3> size_zyx_;
  std::vector<Tile> tiles_;
  std::vector<std::array<double, 3>> level0_voxels_;  ///< by image: level-0 voxels a patch voxel
};

VolumeTilePlan::VolumeTilePlan(const cohort::Cohort& cohort, const LoaderConfig& config,
                               const std::vector<std::uint32_t>& images, Beyond beyond)
    : size_zyx_(config.volume_patch.size_zyx), level0_voxels_(cohort.images().size()) {
  for (const std::uint32_t image : images) {
    const auto spacing = level_spacing_mm_zyx(cohort.images()[image], 0, config);
    for (std::size_t axis = 0; axis < 3; ++axis)
      level0_voxels_[image][axis] = config.volume_patch.spacing_mm_zyx[axis] / spacing[axis];
  }
  std::vector<std::vector<Tile>> found(images.size());
  ThreadPool pool(0);
  pool.parallel_for(images.size(),
                    [&](std::size_t i) { found[i] = tiles_of(cohort, config, images[i], beyond); });
  for (const auto& tiles : found) tiles_.insert(tiles_.end(), tiles.begin(), tiles.end());
}

/// Tiles over the body's box, slice by slice, row by row. A tile that would leave the volume is
/// moved back into it, as far as possible.
std::vector<Tile> VolumeTilePlan::tiles_of(const cohort::Cohort& cohort, const LoaderConfig& config,
                                           std::uint32_t image, Beyond beyond) const {
  const auto& shape = cohort.images()[image].volume->levels.front().shape_zyx;
  const auto [low, high] = beyond == Beyond::whole_volume
                               ? std::array{std::array<std::int64_t, 3>{}, shape}
                               : body_box(cohort.volume_cells(image, ""), shape);
  std::array<std::vector<std::int64_t>, 3> starts;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double step = level0_voxels_[image][axis];
    const auto first = static_cast<std::int64_t>(std::floor(static_cast<double>(low[axis]) / step));
    const std::int64_t last_start =
        std::max<std::int64_t>(0, patch_extent(shape[axis], step) - size_zyx_[axis]);
    for (const std::int64_t corner :
         tile_corners(patch_extent(high[axis], step) - first, size_zyx_[axis],
                      tile_step(size_zyx_[axis], config.tiles.overlap))) {
      starts[axis].push_back(std::min(first + corner, last_start));
    }
  }
  std::vector<Tile> tiles;
  for (const std::int64_t z : starts[0]) {
    for (const std::int64_t y : starts[1]) {
      for (const std::int64_t x : starts[2]) tiles.push_back({image, {z, y, x}});
    }
  }
  return tiles;
}

SampleSite VolumeTilePlan::site(std::uint64_t, std::uint64_t index) const {
  const Tile& tile = tiles_.at(index);
  const auto centre = [&](std::size_t axis) {
    return (static_cast<double>(tile.start_zyx[axis]) + size_zyx_[axis] * 0.5) *
           level0_voxels_[tile.image][axis];
  };
  SampleSite site;
  site.index = index;
  site.image = tile.image;
  site.tile_z = tile.start_zyx[0];
  site.tile_yx = {tile.start_zyx[1], tile.start_zyx[2]};
  site.centre_level0_z = centre(0);
  site.centre_level0_yx = {centre(1), centre(2)};
  return site;
}

}  // namespace

std::shared_ptr<const SamplePlan> make_volume_tile_plan(const cohort::Cohort& cohort,
                                                        const LoaderConfig& config,
                                                        const std::vector<std::uint32_t>& images,
                                                        Beyond beyond) {
  return std::make_shared<VolumeTilePlan>(cohort, config, images, beyond);
}

}  // namespace headrace::loader::detail
