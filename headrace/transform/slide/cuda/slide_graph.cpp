#include <algorithm>
#include <cstring>
#include <vector>

#include "headrace/device/staging_buffer.hpp"
#include "headrace/transform/slide/cuda/patch_drivers.hpp"
#include "headrace/transform/slide/operations/slide_blur.hpp"
#include "headrace/transform/slide/place_patch.hpp"
#include "headrace/transform/slide/sample_params.hpp"
#include "headrace/transform/slide/slide_cuda_graph.hpp"

namespace headrace::transform {

using device::cuda::StagingBuffer, device::cuda::StagingRing, device::cuda::Stream;

namespace {

/// Control values of all patches of a batch; each patch has the same number.
class Controls {
 public:
  Controls(std::span<const CudaPatch> patches, StagingBuffer& staging) : staging_(staging) {
    std::size_t most = 0;
    for (const CudaPatch& patch : patches) {
      const auto edge = static_cast<std::size_t>(patch.params->elastic.grid) + 3;
      if (patch.params->elastic.grid > 0) most = std::max(most, edge * edge);
    }
    each_ = most == 0 ? 0 : most + kPadding;
    at_ = staging.room<float>(2 * each_ * patches.size());
  }
  /// Copies the contents of `pixels` and points the placement to their future place on the GPU.
  void put(std::size_t patch, const ControlPixels& pixels, Placement& placement) const {
    if (placement.grid == 0) return;
    const std::size_t y = 2 * each_ * patch, x = y + each_;
    const std::size_t count = std::min(pixels.y.size(), each_);
    std::memcpy(staging_.host<float>(at_) + y, pixels.y.data(), count * sizeof(float));
    std::memcpy(staging_.host<float>(at_) + x, pixels.x.data(), count * sizeof(float));
    placement.control_y = staging_.device<float>(at_) + y;
    placement.control_x = staging_.device<float>(at_) + x;
  }

 private:
  static constexpr std::size_t kPadding = math::kMostLanes;  ///< as on a CPU, where packs are read
  StagingBuffer& staging_;
  std::size_t each_ = 0, at_ = 0;
};

}  // namespace

struct CudaScratch::State {
  StagingRing staging_ring;
  device::cuda::DeviceBuffer planes;  ///< of the blurred patches: planes and rows
  ControlPixels controls;
};

CudaScratch::CudaScratch() : state_(std::make_unique<State>()) {}
CudaScratch::~CudaScratch() = default;
CudaScratch::CudaScratch(CudaScratch&&) noexcept = default;
CudaScratch& CudaScratch::operator=(CudaScratch&&) noexcept = default;
std::size_t CudaScratch::device_bytes() const noexcept {
  return state_->planes.size() + state_->staging_ring.device_bytes();
}

void CudaGraph::images(std::span<const CudaPatch> patches, const TensorFormat& format, void* dst,
                       CudaScratch& scratch, Stream& stream) const {
  if (patches.empty()) return;
  CudaScratch::State& state = *scratch.state_;
  const PatchSpec& patch = graph.patch();
  const std::size_t values =
      3u * static_cast<std::size_t>(patch.height) * static_cast<std::size_t>(patch.width);
  std::vector<std::size_t> blurred;
  for (std::size_t i = 0; i < patches.size(); ++i) {
    if (patches[i].params->blur_sigma > 0) blurred.push_back(i);
  }
  state.planes.reserve(2 * values * sizeof(float) * blurred.size(), stream);
  StagingBuffer& staging = state.staging_ring.take();
  const std::size_t kernels = staging.room<PatchKernel>(patches.size());
  const std::size_t later = staging.room<BlurredPatch>(blurred.size());
  const Controls controls(patches, staging);
  staging.fix(stream);

  std::size_t b = 0;
  for (std::size_t i = 0; i < patches.size(); ++i) {
    const CudaPatch& p = patches[i];
    const bool blurs = b < blurred.size() && blurred[b] == i;
    float* planes = blurs ? state.planes.as<float>() + 2 * values * b : nullptr;
    PatchKernel kernel = patch_kernel(*p.params, patch, *p.geometry, p.window, p.level_extent,
                                      planes, state.controls);
    controls.put(i, state.controls, kernel.placement);
    std::memcpy(staging.host<PatchKernel>(kernels) + i, &kernel, sizeof kernel);
    if (!blurs) continue;
    const BlurredPatch then{blur_kernel(p.params->blur_sigma, patch, planes),
                            {p.params->after_blur, p.params->noise_after_blur, kernel.stream,
                             patch.height, patch.width, planes},
                            planes + values,
                            static_cast<std::int32_t>(i)};
    std::memcpy(staging.host<BlurredPatch>(later) + b++, &then, sizeof then);
  }
  staging.send(stream);
  const BatchTensor out{static_cast<std::byte*>(dst), format, patch.height, patch.width};
  cuda::images(static_cast<std::int32_t>(patches.size()),
               {staging.device<PatchKernel>(kernels), out}, stream);
  cuda::blurred(static_cast<std::int32_t>(blurred.size()), staging.device<BlurredPatch>(later), out,
                stream);
  staging.sent_and_read(stream);
}

void CudaGraph::labels(std::span<const CudaPatch> patches, std::uint8_t outside, std::uint8_t* dst,
                       CudaScratch& scratch, Stream& stream) const {
  if (patches.empty()) return;
  CudaScratch::State& state = *scratch.state_;
  const PatchSpec& patch = graph.patch();
  const std::int32_t pixels = patch.height * patch.width;
  StagingBuffer& staging = state.staging_ring.take();
  const std::size_t kernels = staging.room<LabelKernel>(patches.size());
  const Controls controls(patches, staging);
  staging.fix(stream);
  for (std::size_t i = 0; i < patches.size(); ++i) {
    const CudaPatch& p = patches[i];
    LabelKernel kernel =
        label_kernel(*p.params, patch, *p.geometry, p.window, p.level_extent, outside,
                     dst + i * static_cast<std::size_t>(pixels), state.controls);
    controls.put(i, state.controls, kernel.placement);
    std::memcpy(staging.host<LabelKernel>(kernels) + i, &kernel, sizeof kernel);
  }
  staging.send(stream);
  cuda::labels(static_cast<std::int32_t>(patches.size()), pixels,
               {staging.device<LabelKernel>(kernels)}, stream);
  staging.sent_and_read(stream);
}

}  // namespace headrace::transform
