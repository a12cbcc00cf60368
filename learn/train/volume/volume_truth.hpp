#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "headrace/cohort/label_view.hpp"
#include "learn/config/run_config.hpp"
#include "learn/inference/volume/slice_reader.hpp"

namespace headrace::train {

/// The truth of one volume, slice by slice on its own grid, in the run's classes: the stored
/// labels, read as in training; background everywhere where the image is known to be negative and
/// has no labels; else nothing. It refers to cohort and config.
class VolumeTruth {
 public:
  VolumeTruth(const cohort::Cohort& cohort, const config::RunConfig& config, std::uint32_t image);

  /// (y, x) of slice z; valid until the next call; empty where nothing is known. Errors: those of
  /// zarr::Array::read.
  std::span<const std::uint8_t> slice(std::int64_t z);

 private:
  cohort::LabelView view_;
  std::optional<inference::SliceReader> labels_;
  std::vector<std::uint8_t> seen_;  ///< the slice, or background everywhere
};

}  // namespace headrace::train
