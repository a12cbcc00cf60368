#include "headrace/device/staging_buffer.hpp"
#include "headrace/transform/volume/cuda/voxel_drivers.hpp"
#include "headrace/transform/volume/volume_cuda_graph.hpp"

namespace headrace::transform {

struct VolumeCudaScratch::State {
  device::cuda::StagingRing staging_ring;
  device::cuda::DeviceBuffer work;
};

VolumeCudaScratch::VolumeCudaScratch() : state_(std::make_unique<State>()) {}
VolumeCudaScratch::~VolumeCudaScratch() = default;
VolumeCudaScratch::VolumeCudaScratch(VolumeCudaScratch&&) noexcept = default;
VolumeCudaScratch& VolumeCudaScratch::operator=(VolumeCudaScratch&&) noexcept = default;
std::size_t VolumeCudaScratch::device_bytes() const noexcept {
  return state_->work.size() + state_->staging_ring.device_bytes();
}

void VolumeCudaGraph::run(std::span<const VolumePatch> patches, std::uint8_t outside_label,
                          Element element, void* dst, std::uint8_t* dst_labels,
                          VolumeCudaScratch& scratch, device::cuda::Stream& stream) const {
  if (patches.empty()) return;
  VolumeCudaScratch::State& state = *scratch.state_;
  const VolumeBatch batch(graph, patches);
  state.work.reserve(batch.work_bytes(), stream);
  device::cuda::StagingBuffer& staging = state.staging_ring.take();
  const std::size_t at = staging.room<std::byte>(batch.staging_bytes());
  staging.fix(stream);
  const auto launches = batch.write(staging.host<std::byte>(at), staging.device<std::byte>(at),
                                    state.work.as<std::byte>(), outside_label, dst_labels);
  staging.send(stream);
  const auto [depth, height, width] = graph.patch().size_zyx;
  const VolumeTensor out{static_cast<std::byte*>(dst), element,
                         std::int64_t{depth} * height * width};
  for (const VolumeLaunch& launch : launches) cuda::run(launch, out, stream);
  staging.sent_and_read(stream);
}

}  // namespace headrace::transform
