#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "headrace/device/cuda_device.hpp"
#include "headrace/transform/slide/slide_graph.hpp"
#include "headrace/transform/tensor_format.hpp"

namespace headrace::transform {

/// Memory on the GPU, and pinned memory, of one stream: several batches may be in flight in that
/// stream, none in another. Destroyed after the stream has finished.
class CudaScratch {
 public:
  CudaScratch();
  ~CudaScratch();
  CudaScratch(CudaScratch&&) noexcept;
  CudaScratch& operator=(CudaScratch&&) noexcept;
  /// Bytes held on the GPU; grows with the largest batch.
  std::size_t device_bytes() const noexcept;

 private:
  friend struct CudaGraph;
  struct State;
  std::unique_ptr<State> state_;
};

/// One context of one sample. Its window lies in device memory, with 8 readable bytes after its
/// last pixel.
struct CudaPatch {
  const SampleParams* params = nullptr;
  const PatchGeometry* geometry = nullptr;
  ImageView window;
  Box2 level_extent;  ///< as in Graph::image
};

/// A graph run on a GPU: does what Graph::image and Graph::labels do, for a whole batch in a
/// stream: one launch for all patches, four more where some are blurred. Windows and dst must stay
/// until the stream is done; graph, patches, params and geometry may be freed at once. The same
/// bytes as on a CPU. Errors: unsupported (a build without CUDA), device, memory, and those of the
/// Graph.
struct CudaGraph {
  const Graph& graph;

  /// dst: patches.size() times 3 × height × width values of `format`.
  void images(std::span<const CudaPatch> patches, const TensorFormat& format, void* dst,
              CudaScratch& scratch, device::cuda::Stream& stream) const;
  /// dst: patches.size() times height × width bytes.
  void labels(std::span<const CudaPatch> patches, std::uint8_t outside, std::uint8_t* dst,
              CudaScratch& scratch, device::cuda::Stream& stream) const;
};

}  // namespace headrace::transform
