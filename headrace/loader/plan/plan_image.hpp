#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "headrace/cohort/annotation.hpp"
#include "headrace/cohort/cohort.hpp"
#include "headrace/loader/config/loader_config.hpp"
#include "headrace/loader/plan/site_table.hpp"

namespace headrace::loader::detail {

/// What a training plan keeps of an image; (z, y, x) in pixels or voxels of level 0, with a z of 1
/// for slides.
struct PlanImage {
  std::uint32_t image = 0;  ///< its number in the cohort
  Zyx size{};
  Zyx margin{};  ///< how far centres stay from the edge
  Zyx half{};    ///< of a patch that is not turned
  cohort::Annotation annotation = cohort::Annotation::none;
  SiteTable tissue;  ///< or the body; one region
  struct OfClass {
    std::uint8_t value = 0;
    SiteTable sites;
  };
  std::vector<OfClass> classes;  ///< classes that the image has, ascending
  SiteTable near;                ///< around lesions, where the config asks for it; one region
};

PlanImage load_plan_image(const cohort::Cohort& cohort, std::uint32_t image,
                          const LoaderConfig& config);

/// The part of an image that is near lesions but not a lesion: tissue whose part lies within
/// `reach_px` (z, y, x, in pixels of level 0, along each axis) of a part that holds one of
/// `classes`, and itself holds none. Blocks of the labels' grid, of one region, sorted by place;
/// pixels are those of whole parts.
/// memory  two bytes for each part of the image while it works
std::vector<cohort::SiteBlock> ring_around(const cohort::SiteIndex& labels,
                                           const std::vector<bool>& classes,
                                           const cohort::SiteIndex& tissue,
                                           const std::array<std::int64_t, 3>& shape_zyx,
                                           const Zyx& reach_px);

}  // namespace headrace::loader::detail
