#include "headrace/core/error.hpp"
#include "headrace/transform/volume/cuda_graph.hpp"

namespace headrace::transform {
namespace {

[[noreturn]] void refuse() { fail(ErrorCode::unsupported, "{}", device::cuda::describe()); }

}  // namespace

struct VolumeCudaScratch::State {};

VolumeCudaScratch::VolumeCudaScratch() { refuse(); }
VolumeCudaScratch::~VolumeCudaScratch() = default;
VolumeCudaScratch::VolumeCudaScratch(VolumeCudaScratch&&) noexcept = default;
VolumeCudaScratch& VolumeCudaScratch::operator=(VolumeCudaScratch&&) noexcept = default;

void VolumeCudaGraph::run(const VolumeParams&, const VolumeGeometry&,
                          const VolumeView<std::int16_t>&, const VolumeView<std::uint8_t>&,
                          const Box3&, std::uint8_t, float*, std::uint8_t*, VolumeCudaScratch&,
                          device::cuda::Stream&) const {
  refuse();
}

}  // namespace headrace::transform
