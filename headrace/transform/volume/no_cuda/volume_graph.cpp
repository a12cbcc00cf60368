#include "headrace/core/error.hpp"
#include "headrace/transform/volume/volume_cuda_graph.hpp"

namespace headrace::transform {
namespace {

[[noreturn]] void refuse() { fail(ErrorCode::unsupported, "{}", device::cuda::describe()); }

}  // namespace

struct VolumeCudaScratch::State {};

VolumeCudaScratch::VolumeCudaScratch() { refuse(); }
VolumeCudaScratch::~VolumeCudaScratch() = default;
VolumeCudaScratch::VolumeCudaScratch(VolumeCudaScratch&&) noexcept = default;
VolumeCudaScratch& VolumeCudaScratch::operator=(VolumeCudaScratch&&) noexcept = default;

std::size_t VolumeCudaScratch::device_bytes() const noexcept { return 0; }

void VolumeCudaGraph::run(std::span<const VolumePatch>, std::uint8_t, Element, void*, std::uint8_t*,
                          VolumeCudaScratch&, device::cuda::Stream&) const {
  refuse();
}

}  // namespace headrace::transform
