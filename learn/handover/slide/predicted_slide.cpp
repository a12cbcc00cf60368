#include "learn/handover/slide/predicted_slide.hpp"

#include <memory>

#include "headrace/core/error.hpp"

namespace headrace::handover {
namespace {

using Array = std::shared_ptr<const zarr::Array>;

void expect_shape(const Array& array, const std::vector<std::int64_t>& shape,
                  const result::ImageResult& result) {
  if (array->metadata().shape == shape && array->metadata().dtype == DType::uint8) return;
  fail(ErrorCode::malformed,
       "{}: array {} is not uint8 or not of the size that the prediction states; predict again",
       result.folder().string(), array->path());
}

imaging::LabelLevel label_level(const Array& array) {
  const std::vector<std::int64_t>& shape = array->metadata().shape;
  return {
      shape[0], shape[1],
      [array](std::int64_t y0, std::int64_t x0, std::int64_t height, std::int64_t width,
              std::uint8_t* dst, std::int64_t row_stride) {
        array->read(
            {{y0, x0}, {height, width}, reinterpret_cast<std::byte*>(dst), {row_stride, 1}, {}});
      }};
}

}  // namespace

PredictedSlide predicted_slide(const result::ImageResult& result) {
  const result::ImageFacts& facts = result.facts();
  if (!facts.slide) {
    fail(ErrorCode::usage, "{}: the prediction of a volume; this export is for slides",
         result.folder().string());
  }
  PredictedSlide slide;
  slide.facts = facts;
  for (std::size_t level = 0; level < result.levels(); ++level) {
    const Array array = result.classes(level);
    if (level == 0) expect_shape(array, {facts.slide->height, facts.slide->width}, result);
    slide.classes.push_back(label_level(array));
  }
  const auto channels = static_cast<std::int64_t>(facts.classes.size());
  const std::int64_t width = facts.slide->width;
  const Array probability = result.probability();
  expect_shape(probability, {channels, facts.slide->height, width}, result);
  slide.probability = [=](std::int64_t y0, std::int64_t rows, std::uint8_t* dst) {
    probability->read({{0, y0, 0},
                       {channels, rows, width},
                       reinterpret_cast<std::byte*>(dst),
                       {width, channels * width, 1},
                       {}});
  };
  if (const Json* least = find_at(result.findings(), {"slide", "regions", "least_pixels"}))
    least->get_to(slide.least_listed_px);
  return slide;
}

}  // namespace headrace::handover
