#include "learn/predict/quality/slide_measures.hpp"

#include <cmath>
#include <vector>

namespace headrace::predict {

pixels::Image8 read_slide(const cohort::Cohort& cohort, std::size_t image, const SlidePart& part) {
  pixels::Image8 rgb(part.height, part.width, 3);
  cohort.image_array(image, part.level)
      ->read({{0, part.y, part.x},
              {3, part.height, part.width},
              reinterpret_cast<std::byte*>(rgb.pixels.data()),
              {1, 3 * part.width, 3},
              {}});
  return rgb;
}

SlideTissue read_tissue(const cohort::Cohort& cohort, std::size_t image) {
  SlideTissue tissue;
  const auto array = cohort.tissue_mask(image, tissue.downsample);
  const auto& shape = array->metadata().shape;
  tissue.mask = pixels::Mask(shape[0], shape[1]);
  array->read(
      {{0, 0}, shape, reinterpret_cast<std::byte*>(tissue.mask.pixels.data()), {shape[1], 1}, {}});
  return tissue;
}

pixels::InkShares ink_of(const cohort::Cohort& cohort, std::size_t image) {
  const auto& levels = cohort.images()[image].levels;
  double downsample = 1;
  cohort.tissue_mask(image, downsample);
  std::size_t level = 0;
  while (level + 1 < levels.size() && levels[level].downsample_yx[0] < downsample) ++level;
  const auto shape = cohort.image_array(image, level)->metadata().shape;
  return pixels::ink_shares(read_slide(cohort, image, {level, 0, 0, shape[1], shape[2]}));
}

pixels::Sharpness sharpness_of(const cohort::Cohort& cohort, std::size_t image,
                               const SlideTissue& tissue) {
  const cohort::ImageRecord& record = cohort.images()[image];
  std::vector<pixels::SlideScale> levels;
  for (const auto& level : record.levels) {
    const double mpp = record.has_mpp ? std::sqrt(level.mpp_yx[0] * level.mpp_yx[1]) : 0;
    const auto& shape = cohort.image_array(image, levels.size())->metadata().shape;
    levels.push_back({mpp, level.downsample_yx[0], shape[1], shape[2]});
  }
  return pixels::sharpness_of(
      levels, tissue.mask, tissue.downsample, [&](std::size_t level, const Box2& box) {
        return read_slide(cohort, image, {level, box.y0, box.x0, box.height, box.width});
      });
}

}  // namespace headrace::predict
