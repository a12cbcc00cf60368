#pragma once
#include <cstdint>

#include "headrace/core/threads.hpp"
#include "headrace/ingest/statistics_lanes.hpp"
#include "headrace/ingest/volumes/body_mask.hpp"
#include "headrace/ingest/volumes/intensity_histogram.hpp"

namespace headrace::ingest {

/// A volume on the host whose statistics a device gathers, some slices at a time: the device's
/// memory does not grow with the volume. Every result equals the CPU's. Errors: device, memory.
class DeviceVolume : public BodyPasses {
 public:
  /// hu: (z, y, x); it and the others must outlive this.
  DeviceVolume(const std::int16_t* hu, const std::array<std::int64_t, 3>& shape_zyx,
               StatisticsLanes& lanes, ThreadPool& pool);

  /// Core of the voxels above kBodyThresholdHu; keeps these for grown().
  BitVolume eroded(int ry, int rx) override;
  BitVolume grown(const BitVolume& core, int ry, int rx) override;

  /// Adds the voxels of a mask to one histogram, those with a label but 0 and ignore to another.
  /// labels: (z, y, x), or null.
  void count(const BitVolume& body, const std::uint8_t* labels, IntensityHistogram& in_body,
             IntensityHistogram& labelled) const;

 private:
  struct Slab;
  template <typename Body>
  void each_slab(const Body& body) const;

  const std::int16_t* hu_;
  std::array<std::int64_t, 3> shape_;
  StatisticsLanes& lanes_;
  ThreadPool& pool_;
  BitVolume above_;
};

}  // namespace headrace::ingest
