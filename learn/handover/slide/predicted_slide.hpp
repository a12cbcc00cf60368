#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "headrace/imaging/tiff/label_writer.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::handover {

/// What the exports take from the prediction of a slide. The readers are safe from any thread.
struct PredictedSlide {
  result::ImageFacts facts;  ///< with `slide`
  /// The class map, and 2^k coarser ones; values as in ImageResult::classes. They render any region.
  std::vector<imaging::LabelLevel> classes;
  /// Rows [y0, y0 + rows) of the probabilities, 0 to 255: (row, class, x) of the whole width.
  std::function<void(std::int64_t y0, std::int64_t rows, std::uint8_t* dst)> probability;
  std::uint64_t least_listed_px = 1;  ///< findings and regions.csv leave smaller regions out
};

/// Errors: usage (the prediction is of a volume), malformed (maps of another size than stated).
PredictedSlide predicted_slide(const result::ImageResult& result);

}  // namespace headrace::handover
