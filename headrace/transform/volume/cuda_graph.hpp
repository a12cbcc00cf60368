#pragma once
#include <memory>

#include "headrace/device/cuda_device.hpp"
#include "headrace/transform/volume/graph.hpp"

namespace headrace::transform {

/// Memory on the GPU, and pinned memory, of one stream: several patches may be under way in that
/// stream, none in another. Destroyed after the stream has finished.
class VolumeCudaScratch {
 public:
  VolumeCudaScratch();
  ~VolumeCudaScratch();
  VolumeCudaScratch(VolumeCudaScratch&&) noexcept;
  VolumeCudaScratch& operator=(VolumeCudaScratch&&) noexcept;

 private:
  friend struct VolumeCudaGraph;
  struct State;
  std::unique_ptr<State> state_;
};

/// A graph run on a GPU: what VolumeGraph::run does, put into a stream. The windows' data and both
/// outputs are device memory, the windows with 16 readable bytes behind their last voxel; all stay
/// until the stream is done. Graph, params and geometry may go at once. The same bytes as on a CPU.
/// Errors: unsupported (a build without CUDA), device, memory, and those of the VolumeGraph.
struct VolumeCudaGraph {
  const VolumeGraph& graph;

  void run(const VolumeParams& params, const VolumeGeometry& geometry,
           const VolumeView<std::int16_t>& image, const VolumeView<std::uint8_t>& labels,
           const Box3& extent, std::uint8_t outside_label, float* dst, std::uint8_t* dst_labels,
           VolumeCudaScratch& scratch, device::cuda::Stream& stream) const;
};

}  // namespace headrace::transform
