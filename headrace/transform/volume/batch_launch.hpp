#pragma once
#include "headrace/transform/volume/volume_batch.hpp"

namespace headrace::transform {

/// Calls run(items, elements, kernel, name) with the launch's kernel: the one list of passes, for
/// every back end.
template <typename Run>
void run_launch(const VolumeLaunch& launch, const VolumeTensor& out, const Run& run) {
  using Pass = VolumeLaunch::Pass;
  const auto start = [&](const auto& kernel, const char* name) {
    run(launch.items, launch.elements, kernel, name);
  };
  const auto smooth = static_cast<const SmoothKernel*>(launch.kernels);
  const auto gathered = static_cast<const GatheredPatch*>(launch.kernels);
  const auto summed = static_cast<const SummedPatch*>(launch.kernels);
  const auto staged = static_cast<const StagedPatch*>(launch.kernels);
  const auto reduced = static_cast<const ReducedVolume*>(launch.kernels);
  switch (launch.pass) {
    case Pass::smooth:
      return start(SmoothVoxel{smooth}, "smooth volumes");
    case Pass::row_controls:
      return start(RowControlValue{static_cast<const RowControls*>(launch.kernels)},
                   "volume row controls");
    case Pass::gather:
      return start(VolumeVoxel{gathered, out}, "volume patches");
    case Pass::row_sums:
      return start(RowSumsValue{summed}, "volume row sums");
    case Pass::slice_sums:
      return start(SliceSumsValue{summed}, "volume slice sums");
    case Pass::statistics:
      return start(PatchStatisticsValue{summed}, "volume statistics");
    case Pass::resolve:
      return start(ResolvedStages{staged, launch.resolved}, "volume stages with statistics");
    case Pass::stages:
      return start(StagesVoxel{staged, launch.resolved, out}, "volume stages");
    case Pass::blur:
      return start(VolumeBlurVoxel{static_cast<const BlurredVolume*>(launch.kernels), launch.axis},
                   "volume blur");
    case Pass::reduce:
      return start(ReducedVoxel{reduced}, "volume reduction");
    case Pass::enlarge:
      return start(EnlargedVoxel{reduced}, "volume enlargement");
  }
}

}  // namespace headrace::transform
