#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "headrace/core/intensity_stats.hpp"
#include "headrace/core/limited_pool.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/device/buffer.hpp"
#include "headrace/transform/volume/volume_graph.hpp"

namespace headrace::transform {

/// A volume in memory, and where the sample lies that is made of it.
struct VolumeArray {
  /// Stored values of each channel: whole HU, or hundredths of SUV. All of one shape; nothing
  /// behind the last voxel is read.
  std::vector<VolumeView<std::int16_t>> channels;
  VolumeView<std::uint8_t> labels;     ///< of that shape too; no data: none
  std::array<double, 3> centre_zyx{};  ///< voxels; the middle of voxel 0 is 0.5
  std::array<double, 3> spacing_mm_zyx{1, 1, 1};
  std::vector<IntensityStats> patient;  ///< of each channel; empty: nothing is known
};

/// Batches of volumes in memory, for programs with a loader of their own.
///
/// Sample i of a batch is what the Loader makes of the same voxels with the key {seed, epoch,
/// index + i} of `first`, to the last bit: it depends neither on the other samples nor on threads.
///
/// threads  any at once; each at work holds one of as many workers as there are cores
/// memory   of each worker a window with its labels and a patch, kept from call to call
class VolumeArrayBatch {
 public:
  /// A graph for each channel of the volumes, in order, all of one patch. Errors: usage (none).
  explicit VolumeArrayBatch(std::vector<VolumeGraph> channels);

  const std::vector<VolumeGraph>& channels() const noexcept { return channels_; }

  /// dst: (samples, channels, depth, height, width) float32. dst_labels: (samples, depth, height,
  /// width), or null; samples without labels get kIgnoreLabel. Errors: those of VolumeGraph, and
  /// usage (another number of channels), with the sample's number.
  void run(std::span<const VolumeArray> samples, const SampleKey& first, bool random, float* dst,
           std::uint8_t* dst_labels, ThreadPool& pool) const;

 private:
  /// What one thread works with.
  struct Worker {
    VolumeScratch scratch;
    device::HostBuffer window, label_window;
    VolumeGeometry geometry;
  };

  void make(const VolumeArray& sample, const SampleKey& key, bool random, float* dst,
            std::uint8_t* dst_labels) const;
  std::size_t voxels() const;

  std::vector<VolumeGraph> channels_;
  mutable LimitedPool<Worker> workers_;
};

}  // namespace headrace::transform
