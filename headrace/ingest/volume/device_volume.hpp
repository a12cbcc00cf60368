#pragma once
#include <array>
#include <cstdint>

#include "headrace/core/threads.hpp"
#include "headrace/ingest/volume/body_mask.hpp"
#include "headrace/ingest/volume/intensity_histogram.hpp"
#include "headrace/pixels/statistics/statistics_workspaces.hpp"

namespace headrace::ingest {

/// A volume on the host whose statistics a device gathers, some slices at a time: the device's
/// memory does not grow with the volume. Every result equals the CPU's. Errors: device, memory.
class DeviceVolume : public BodyPasses {
 public:
  /// hu: (z, y, x); it and the others must outlive this.
  DeviceVolume(const std::int16_t* hu, const std::array<std::int64_t, 3>& shape_zyx,
               pixels::StatisticsWorkspaces& workspaces, ThreadPool& pool);

  /// Core of the voxels above kBodyThresholdHu; keeps these for grown().
  pixels::BitVolume eroded(int ry, int rx) override;
  pixels::BitVolume grown(const pixels::BitVolume& core, int ry, int rx) override;

  /// Adds the voxels of a mask to one histogram, those with a label but 0 and ignore to another.
  /// labels: (z, y, x), or null.
  void count(const pixels::BitVolume& body, const std::uint8_t* labels, IntensityHistogram& in_body,
             IntensityHistogram& labelled) const;

 private:
  struct Slab;
  template <typename Body>
  void each_slab(const Body& body) const;

  const std::int16_t* hu_;
  std::array<std::int64_t, 3> shape_;
  pixels::StatisticsWorkspaces& workspaces_;
  ThreadPool& pool_;
  pixels::BitVolume above_;
};

}  // namespace headrace::ingest
