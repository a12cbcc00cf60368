#pragma once
#include <memory>

#include "headrace/device/cuda_device.hpp"
#include "headrace/transform/graph.hpp"

namespace headrace::transform {

/// Memory on the GPU, and pinned memory, of one stream: several patches may be under way in that
/// stream, none in another. Destroyed after the stream has finished.
class CudaScratch {
 public:
  CudaScratch();
  ~CudaScratch();
  CudaScratch(CudaScratch&&) noexcept;
  CudaScratch& operator=(CudaScratch&&) noexcept;

 private:
  friend struct CudaGraph;
  struct State;
  std::unique_ptr<State> state_;
};

/// A graph run on a GPU: what Graph::image and Graph::labels do, put into a stream. The window's
/// data and dst are device memory, the window with 4 readable bytes behind its last pixel; both
/// stay until the stream is done. Graph, params and geometry may go at once. The same bytes as on a
/// CPU. Errors: unsupported (a build without CUDA), device, memory, and those of the Graph.
struct CudaGraph {
  const Graph& graph;

  void image(const SampleParams& params, const PatchGeometry& geometry, const ImageView& window,
             const Box2& level_extent, float* dst, CudaScratch& scratch,
             device::cuda::Stream& stream) const;
  void labels(const SampleParams& params, const PatchGeometry& geometry, const ImageView& window,
              const Box2& level_extent, std::uint8_t outside, std::uint8_t* dst,
              CudaScratch& scratch, device::cuda::Stream& stream) const;
};

}  // namespace headrace::transform
