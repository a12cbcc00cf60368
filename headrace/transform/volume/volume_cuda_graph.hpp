#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "headrace/device/cuda_device.hpp"
#include "headrace/transform/volume/volume_batch.hpp"

namespace headrace::transform {

/// Memory on the GPU, and pinned memory, of one stream: several batches may be in flight in that
/// stream, none in another. Destroyed after the stream has finished.
class VolumeCudaScratch {
 public:
  VolumeCudaScratch();
  ~VolumeCudaScratch();
  VolumeCudaScratch(VolumeCudaScratch&&) noexcept;
  VolumeCudaScratch& operator=(VolumeCudaScratch&&) noexcept;
  /// Bytes held on the GPU; grows with the largest batch.
  std::size_t device_bytes() const noexcept;

 private:
  friend struct VolumeCudaGraph;
  struct State;
  std::unique_ptr<State> state_;
};

/// A graph run on a GPU: does what VolumeGraph::run does, for a whole batch in a stream, with one
/// launch for each pass. The windows' data and both outputs are device memory; windows have 16
/// readable bytes after their last voxel; all must stay until the stream is done. Graph, patches,
/// params and geometry may be freed at once. The same bytes as on a CPU. Errors: unsupported (a
/// build without CUDA), device, memory, and those of the VolumeGraph.
struct VolumeCudaGraph {
  const VolumeGraph& graph;

  /// dst: patches.size() times depth × height × width values of one channel, which both layouts
  /// store alike; dst_labels: as many bytes, or null.
  void run(std::span<const VolumePatch> patches, std::uint8_t outside_label, Element element,
           void* dst, std::uint8_t* dst_labels, VolumeCudaScratch& scratch,
           device::cuda::Stream& stream) const;
};

}  // namespace headrace::transform
