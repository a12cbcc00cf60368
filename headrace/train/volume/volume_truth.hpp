#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "headrace/loader/run_config.hpp"
#include "headrace/source/label_view.hpp"
#include "headrace/train/volume/slice_reader.hpp"

namespace headrace::train {

/// What is true of one volume, slice by slice on its own grid, as the run's classes: the labels
/// that are stored, seen as training sees them; background all over where the image is known to be
/// negative and has none; else nothing. It refers to cohort and config.
class VolumeTruth {
 public:
  VolumeTruth(const source::Cohort& cohort, const loader::RunConfig& config, std::uint32_t image);

  /// (y, x) of slice z; lives until the next call; empty where nothing is known. Errors: those of
  /// zarr::Array::read.
  std::span<const std::uint8_t> slice(std::int64_t z);

 private:
  source::LabelView view_;
  std::optional<SliceReader> labels_;
  std::vector<std::uint8_t> seen_;  ///< the slice, or background all over
};

}  // namespace headrace::train
