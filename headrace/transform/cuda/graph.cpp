#include <array>
#include <cstring>

#include "headrace/transform/cuda/drivers.hpp"
#include "headrace/transform/cuda_graph.hpp"
#include "headrace/transform/place_patch.hpp"
#include "headrace/transform/sample_params.hpp"

namespace headrace::transform {

using device::cuda::Stream;

namespace {

/// Control values of one patch on their way to the GPU; free again when `used` has come.
struct Slot {
  ControlPixels controls;
  device::cuda::PinnedBuffer staged;
  device::cuda::DeviceBuffer on_device;
  device::cuda::Event used;

  /// Puts the copy into the stream, and the kernel's pointers on it.
  void send(Placement& placement, Stream& stream) {
    if (placement.grid == 0) return;
    const std::size_t count = controls.y.size(), bytes = count * sizeof(float);
    staged.reserve(2 * bytes);
    on_device.reserve(2 * bytes);
    std::memcpy(staged.as<float>(), controls.y.data(), bytes);
    std::memcpy(staged.as<float>() + count, controls.x.data(), bytes);
    device::cuda::copy_to_device(on_device.as<float>(), staged.as<float>(), 2 * bytes, stream);
    placement.control_y = on_device.as<float>();
    placement.control_x = on_device.as<float>() + count;
  }
};

}  // namespace

struct CudaScratch::State {
  static constexpr std::size_t kUnderWay = 16;
  std::array<Slot, kUnderWay> slots;
  std::size_t next = 0;
  device::cuda::DeviceBuffer plane;

  Slot& take() {
    Slot& slot = slots[next++ % kUnderWay];
    slot.used.wait();
    return slot;
  }
};

CudaScratch::CudaScratch() : state_(std::make_unique<State>()) {}
CudaScratch::~CudaScratch() = default;
CudaScratch::CudaScratch(CudaScratch&&) noexcept = default;
CudaScratch& CudaScratch::operator=(CudaScratch&&) noexcept = default;

void CudaGraph::image(const SampleParams& params, const PatchGeometry& geometry,
                      const ImageView& window, const Box2& level_extent, float* dst,
                      CudaScratch& scratch, Stream& stream) const {
  CudaScratch::State& state = *scratch.state_;
  const PatchSpec& patch = graph.patch();
  Slot& slot = state.take();
  PatchKernel kernel =
      patch_kernel(params, patch, geometry, window, level_extent, dst, slot.controls);
  slot.send(kernel.placement, stream);
  cuda::image(kernel, stream);
  slot.used.record(stream);
  if (!(params.blur_sigma > 0)) return;
  state.plane.reserve(sizeof(float) * 3 * static_cast<std::size_t>(patch.height) *
                      static_cast<std::size_t>(patch.width));
  cuda::blur(blur_kernel(params.blur_sigma, patch, dst), state.plane.as<float>(), stream);
  cuda::recolour(
      {params.after_blur, params.noise_after_blur, kernel.stream, patch.height, patch.width, dst},
      stream);
}

void CudaGraph::labels(const SampleParams& params, const PatchGeometry& geometry,
                       const ImageView& window, const Box2& level_extent, std::uint8_t outside,
                       std::uint8_t* dst, CudaScratch& scratch, Stream& stream) const {
  Slot& slot = scratch.state_->take();
  LabelKernel kernel = label_kernel(params, graph.patch(), geometry, window, level_extent, outside,
                                    dst, slot.controls);
  slot.send(kernel.placement, stream);
  cuda::labels(kernel, stream);
  slot.used.record(stream);
}

}  // namespace headrace::transform
