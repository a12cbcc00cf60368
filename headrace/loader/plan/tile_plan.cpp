#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "headrace/core/error.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/loader/plan/level_choice.hpp"
#include "headrace/loader/plan/plan_images.hpp"
#include "headrace/loader/plan/sample_plan.hpp"
#include "headrace/loader/plan/tile_corners.hpp"
#include "headrace/loader/plan/volume_tile_plan.hpp"

namespace headrace::loader {
namespace {

struct Tile {
  std::uint32_t image = 0;
  std::int64_t y = 0, x = 0;  ///< patch pixels
};

class TilePlan : public SamplePlan {
 public:
  TilePlan(const cohort::Cohort& cohort, const LoaderConfig& config,
           const std::vector<std::uint32_t>& images, const std::string& labels);

  SampleSite site(std::uint64_t, std::uint64_t index) const override;
  std::uint64_t samples_per_epoch() const override { return tiles_.size(); }
  bool random() const override { return false; }

 private:
  std::vector<Tile> tiles_of(const cohort::Cohort& cohort, const LoaderConfig& config,
                             std::uint32_t image, const std::string& labels) const;

  std::int32_t height_, width_;
  std::vector<Tile> tiles_;
  std::vector<std::array<double, 2>> level0_px_;  ///< by image: level-0 pixels a patch pixel
};

TilePlan::TilePlan(const cohort::Cohort& cohort, const LoaderConfig& config,
                   const std::vector<std::uint32_t>& images, const std::string& labels)
    : height_(config.patch.height), width_(config.patch.width), level0_px_(cohort.images().size()) {
  for (const std::uint32_t image : images) {
    const auto mpp = level_mpp_yx(cohort.images()[image], 0, config);
    level0_px_[image] = {config.patch.mpp / mpp[0], config.patch.mpp / mpp[1]};
  }
  std::vector<std::vector<Tile>> found(images.size());
  ThreadPool pool(0);
  pool.parallel_for(images.size(),
                    [&](std::size_t i) { found[i] = tiles_of(cohort, config, images[i], labels); });
  for (const auto& tiles : found) tiles_.insert(tiles_.end(), tiles.begin(), tiles.end());
}

/// Row by row: the tiles that touch a cell with tissue or with a class other than background.
std::vector<Tile> TilePlan::tiles_of(const cohort::Cohort& cohort, const LoaderConfig& config,
                                     std::uint32_t image, const std::string& labels) const {
  const cohort::CellIndex index = cohort.cells(image, labels);
  const cohort::ImageLevel& level = cohort.images()[image].levels.front();
  const auto [step_y, step_x] = level0_px_[image];
  std::set<std::pair<std::int64_t, std::int64_t>> occupied;
  for (std::size_t k = 0; k < index.cell_y.size(); ++k)
    occupied.emplace(index.cell_y[k], index.cell_x[k]);
  const auto touches = [&](std::int64_t y, std::int64_t x) {
    const double size = index.cell_size_px;
    const auto first_y =
        static_cast<std::int64_t>(std::floor(static_cast<double>(y) * step_y / size));
    const auto first_x =
        static_cast<std::int64_t>(std::floor(static_cast<double>(x) * step_x / size));
    const auto end_y =
        static_cast<std::int64_t>(std::ceil(static_cast<double>(y + height_) * step_y / size));
    const auto end_x =
        static_cast<std::int64_t>(std::ceil(static_cast<double>(x + width_) * step_x / size));
    for (std::int64_t cell_y = first_y; cell_y < end_y; ++cell_y) {
      const auto found = occupied.lower_bound({cell_y, first_x});
      if (found != occupied.end() && found->first == cell_y && found->second < end_x) return true;
    }
    return false;
  };
  std::vector<Tile> tiles;
  const auto starts = [&](std::int64_t pixels, double step, std::int32_t edge) {
    return detail::tile_corners(detail::patch_extent(pixels, step), edge,
                                detail::tile_step(edge, config.tiles.overlap));
  };
  for (const std::int64_t y : starts(level.height, step_y, height_)) {
    for (const std::int64_t x : starts(level.width, step_x, width_)) {
      if (touches(y, x)) tiles.push_back({image, y, x});
    }
  }
  return tiles;
}

SampleSite TilePlan::site(std::uint64_t, std::uint64_t index) const {
  const Tile& tile = tiles_.at(index);
  SampleSite site;
  site.index = index;
  site.image = tile.image;
  site.tile_yx = {tile.y, tile.x};
  site.centre_level0_yx = {
      (static_cast<double>(tile.y) + height_ * 0.5) * level0_px_[tile.image][0],
      (static_cast<double>(tile.x) + width_ * 0.5) * level0_px_[tile.image][1]};
  return site;
}

}  // namespace

Beyond beyond_body(const Preprocessing& preprocessing) {
  return preprocessing.outside_body.empty() ? Beyond::body_box : Beyond::whole_volume;
}

std::shared_ptr<const SamplePlan> make_tile_plan(const cohort::Cohort& cohort,
                                                 const LoaderConfig& config,
                                                 const std::string& split, Beyond beyond) {
  const auto images = detail::images_of_split(cohort, config, split, "the split to tile");
  if (config.volumes) return detail::make_volume_tile_plan(cohort, config, images, beyond);
  auto plan = std::make_shared<TilePlan>(cohort, config, images, config.data.labels);
  if (plan->samples_per_epoch() == 0) {
    fail(ErrorCode::usage, "{}: no image of split '{}' has tissue, so there is nothing to tile",
         cohort.path(), split);
  }
  return plan;
}

std::shared_ptr<const SamplePlan> make_tile_plan(const cohort::Cohort& cohort,
                                                 const LoaderConfig& config,
                                                 const std::vector<std::uint32_t>& images,
                                                 Beyond beyond) {
  if (config.volumes) return detail::make_volume_tile_plan(cohort, config, images, beyond);
  return std::make_shared<TilePlan>(cohort, config, images, "");
}

}  // namespace headrace::loader
