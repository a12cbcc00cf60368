#include "headrace/loader/plan/plan_image.hpp"

#include <algorithm>
#include <span>

#include "headrace/loader/plan/level_choice.hpp"

namespace headrace::loader::detail {
namespace {

/// Level-0 pixels a micrometre or millimetre, by axis.
Zyx pixels_a_unit(const cohort::ImageRecord& record, const LoaderConfig& config) {
  if (record.volume) {
    const auto spacing = level_spacing_mm_zyx(record, 0, config);
    return {1 / spacing[0], 1 / spacing[1], 1 / spacing[2]};
  }
  const auto mpp = level_mpp_yx(record, 0, config);
  return {1, 1 / mpp[0], 1 / mpp[1]};
}

Zyx patch_edges(const LoaderConfig& config) {
  Zyx edges{0, config.patch.height * config.patch.mpp, config.patch.width * config.patch.mpp};
  for (std::size_t axis = 0; config.volumes && axis < 3; ++axis)
    edges[axis] = config.volume_patch.size_zyx[axis] * config.volume_patch.spacing_mm_zyx[axis];
  return edges;
}

std::vector<bool> near_classes(const cohort::Cohort& cohort, const LoaderConfig& config) {
  std::vector<bool> wanted(256, config.sampling.near_classes.empty());
  for (std::size_t c = 0; c < cohort.classes().size(); ++c) {
    const auto& names = config.sampling.near_classes;
    if (std::find(names.begin(), names.end(), cohort.classes()[c]) != names.end()) wanted[c] = true;
  }
  // A class set counts where it may be one of these classes.
  for (std::size_t k = 0; k < cohort.class_sets().size(); ++k) {
    for (const std::uint8_t c : cohort.class_sets()[k].classes) {
      if (wanted[c]) wanted[cohort.classes().size() + k] = true;
    }
  }
  return wanted;
}

}  // namespace

PlanImage load_plan_image(const cohort::Cohort& cohort, std::uint32_t image,
                          const LoaderConfig& config) {
  const cohort::ImageRecord& record = cohort.images()[image];
  const std::array<std::int64_t, 3> shape = cohort::shape_zyx_of(record);
  PlanImage result;
  result.image = image;
  const Zyx scale = pixels_a_unit(record, config), edges = patch_edges(config);
  Zyx reach{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    result.size[axis] = static_cast<double>(shape[axis]);
    result.half[axis] = 0.5 * edges[axis] * scale[axis];
    if (config.sampling.keep_inside) result.margin[axis] = result.half[axis];
    reach[axis] = config.sampling.near_distance * scale[axis];
  }
  const cohort::SiteIndex tissue = cohort.tissue_sites(image);
  result.tissue = SiteTable(tissue.blocks, tissue.grid, shape, 1);
  if (config.data.labels.empty()) return result;
  const cohort::SiteIndex labels = cohort.label_sites(image, config.data.labels);
  result.annotation = annotation_of(record, config.data.labels, labels);
  for (std::size_t i = 0; i < labels.blocks.size();) {
    const std::size_t begin = i;
    const std::uint8_t value = labels.blocks[begin].class_value;
    while (i < labels.blocks.size() && labels.blocks[i].class_value == value) ++i;
    result.classes.push_back(
        {value, SiteTable(std::span(labels.blocks).subspan(begin, i - begin), labels.grid, shape,
                          config.sampling.lesion_size_power)});
  }
  if (config.sampling.near_lesions > 0) {
    const auto ring = ring_around(labels, near_classes(cohort, config), tissue, shape, reach);
    result.near = SiteTable(ring, labels.grid, shape, 1);
  }
  return result;
}

}  // namespace headrace::loader::detail
