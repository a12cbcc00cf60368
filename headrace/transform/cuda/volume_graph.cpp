#include <array>
#include <cstring>

#include "headrace/transform/cuda/volume_drivers.hpp"
#include "headrace/transform/volume/cuda_graph.hpp"
#include "headrace/transform/volume/place.hpp"

namespace headrace::transform {

using device::cuda::DeviceBuffer;
using device::cuda::Stream;

namespace {

/// Control values of one patch on their way to the GPU; free again when `used` has come.
struct VolumeSlot {
  ControlVoxels controls;
  device::cuda::PinnedBuffer staged;
  DeviceBuffer on_device;
  device::cuda::Event used;

  /// Puts the copy into the stream, and the kernel's pointers on it.
  void send(VolumePlacement& placement, Stream& stream) {
    if (placement.grid == 0) return;
    const std::size_t count = controls[0].size(), bytes = count * sizeof(float);
    staged.reserve(3 * bytes);
    on_device.reserve(3 * bytes);
    for (std::size_t i = 0; i < 3; ++i) {
      std::memcpy(staged.as<float>() + i * count, controls[i].data(), bytes);
      placement.control[i] = on_device.as<float>() + i * count;
    }
    device::cuda::copy_to_device(on_device.as<float>(), staged.as<float>(), 3 * bytes, stream);
  }
};

}  // namespace

struct VolumeCudaScratch::State {
  static constexpr std::size_t kUnderWay = 16;
  std::array<VolumeSlot, kUnderWay> slots;
  std::size_t next = 0;
  DeviceBuffer volume, row_controls, sums, statistics, stages;
  std::array<DeviceBuffer, 2> smooth;

  VolumeSlot& take() {
    VolumeSlot& slot = slots[next++ % kUnderWay];
    slot.used.wait();
    return slot;
  }

  /// The window, smoothed along the axes that are reduced.
  VolumeView<std::int16_t> smoothed(const std::array<AxisSmoothing, 3>& smoothing,
                                    const VolumeView<std::int16_t>& image, const Box3& extent,
                                    const Box3& window, Stream& stream) {
    VolumeView<std::int16_t> from = image;
    std::size_t buffer = 0;
    for (const int axis : {2, 1, 0}) {
      const AxisSmoothing& s = smoothing[static_cast<std::size_t>(axis)];
      if (s.radius == 0) continue;
      DeviceBuffer& to = smooth[buffer++ % 2];
      to.reserve(sizeof(std::int16_t) * static_cast<std::size_t>(window.voxels()) + 64);
      SmoothKernel kernel = smooth_kernel(s, axis, extent, window);
      kernel.src = from.data;
      kernel.src_row = from.row_stride;
      kernel.src_slice = from.slice_stride;
      kernel.dst = to.as<std::int16_t>();
      kernel.dst_row = window.size_zyx[2];
      kernel.dst_slice = window.size_zyx[1] * kernel.dst_row;
      cuda::smooth(kernel, stream);
      from.data = kernel.dst;
      from.row_stride = kernel.dst_row;
      from.slice_stride = kernel.dst_slice;
    }
    return from;
  }
};

VolumeCudaScratch::VolumeCudaScratch() : state_(std::make_unique<State>()) {}
VolumeCudaScratch::~VolumeCudaScratch() = default;
VolumeCudaScratch::VolumeCudaScratch(VolumeCudaScratch&&) noexcept = default;
VolumeCudaScratch& VolumeCudaScratch::operator=(VolumeCudaScratch&&) noexcept = default;

void VolumeCudaGraph::run(const VolumeParams& params, const VolumeGeometry& geometry,
                          const VolumeView<std::int16_t>& image,
                          const VolumeView<std::uint8_t>& labels, const Box3& extent,
                          std::uint8_t outside_label, float* dst, std::uint8_t* dst_labels,
                          VolumeCudaScratch& scratch, Stream& stream) const {
  VolumeCudaScratch::State& state = *scratch.state_;
  const VolumePatchSpec& patch = graph.patch();
  const std::size_t row_count =
      static_cast<std::size_t>(patch.size_zyx[0]) * static_cast<std::size_t>(patch.size_zyx[1]);
  const std::size_t patch_bytes =
      sizeof(float) * row_count * static_cast<std::size_t>(patch.size_zyx[2]);
  const VolumeView<std::int16_t> window = state.smoothed(smoothing_of(params, geometry.scale_zyx),
                                                         image, extent, geometry.window, stream);
  state.sums.reserve(sizeof(RowSums) * row_count);
  state.statistics.reserve(sizeof(PatchStatistics) * params.passes.size());
  state.stages.reserve(sizeof(VolumeStages));
  auto* const statistics = state.statistics.as<PatchStatistics>();
  for (std::size_t i = 0; i < params.passes.size(); ++i) {
    const VolumePass& pass = params.passes[i];
    const VolumeStagesKernel stages{
        pass.stages, {patch.size_zyx[0], patch.size_zyx[1], patch.size_zyx[2]}, dst};
    if (i == 0) {
      VolumeSlot& slot = state.take();
      VolumeKernel kernel = volume_kernel(params, patch, geometry, window, labels, extent,
                                          outside_label, dst, dst_labels, slot.controls);
      slot.send(kernel.placement, stream);
      state.row_controls.reserve(sizeof(float) * row_count * 3 *
                                 static_cast<std::size_t>(kernel.placement.grid + 3));
      cuda::gather(kernel, state.row_controls.as<float>(), stream);
      slot.used.record(stream);
    } else if (pass.kind == VolumePass::Kind::stages) {
      cuda::stages(stages, statistics, state.stages.as<VolumeStages>(), stream);
    } else {
      state.volume.reserve(patch_bytes);
      if (pass.kind == VolumePass::Kind::blur) {
        cuda::blur(volume_blur_kernel(pass.sigma, patch, dst), state.volume.as<float>(), stream);
      } else {
        cuda::low_resolution(low_resolution_kernel(pass.small, patch, dst),
                             state.volume.as<float>(), stream);
      }
    }
    if (pass.statistics) {
      cuda::statistics(stages, state.sums.as<RowSums>(), statistics + i, stream);
    }
  }
}

}  // namespace headrace::transform
