#include "headrace/predict/quality/slide_part.hpp"

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

}  // namespace headrace::predict
