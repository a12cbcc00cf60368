#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "learn/inference/volume/slice_reader.hpp"
#include "learn/train/volume/volume_truth.hpp"

namespace headrace::train {

/// Truth and body of volumes where their predictions are: read slice by slice on the host, and
/// copied in the stream. It refers to cohort and config. One thread.
///
/// memory  that of VolumeTruth and of a SliceReader; page-locked two bytes a voxel of the slices
///         that are under way
class TruthTensors {
 public:
  TruthTensors(const cohort::Cohort& cohort, const config::RunConfig& config)
      : cohort_(cohort), config_(config) {}

  /// (slices, pixels) uint8 of level 0; truth: undefined where nothing is known.
  struct Slices {
    at::Tensor truth, body;
  };
  /// Slices [first, first + count) of an image. Errors: those of zarr::Array::read.
  Slices of(std::uint32_t image, std::int64_t first, std::int64_t count, at::Device device);

 private:
  const cohort::Cohort& cohort_;
  const config::RunConfig& config_;
  std::optional<std::uint32_t> image_;
  std::optional<VolumeTruth> truth_;
  std::optional<inference::SliceReader> body_;
};

}  // namespace headrace::train
