#pragma once
#include <cstdint>
#include <utility>

#include "headrace/cohort/cohort.hpp"
#include "learn/inference/stitcher.hpp"
#include "learn/train/evaluate/examples.hpp"

namespace headrace::train {

/// Gathers the stitched rows of a slide into a picture of labels whose longer side is at most 512
/// pixels: of every block the pixel in its middle.
class SlideOverview {
 public:
  void start(std::int64_t height, std::int64_t width);
  void add(const inference::StitchedPart& row);
  LabelPicture take() { return std::move(labels_); }

 private:
  std::int64_t step_ = 1, last_row_ = 0;
  LabelPicture labels_;
};

/// The whole slide with the outlines of truth and prediction, its longer side at most 512 pixels.
/// Reads the coarsest level that has that many. Errors: those of zarr::Array::read.
ExamplePictures slide_pictures(const cohort::Cohort& cohort, const ShownImage& image);

}  // namespace headrace::train
