#include "headrace/core/error.hpp"
#include "headrace/transform/cuda_graph.hpp"

namespace headrace::transform {
namespace {

[[noreturn]] void refuse() { fail(ErrorCode::unsupported, "{}", device::cuda::describe()); }

}  // namespace

struct CudaScratch::State {};

CudaScratch::CudaScratch() { refuse(); }
CudaScratch::~CudaScratch() = default;
CudaScratch::CudaScratch(CudaScratch&&) noexcept = default;
CudaScratch& CudaScratch::operator=(CudaScratch&&) noexcept = default;

void CudaGraph::image(const SampleParams&, const PatchGeometry&, const ImageView&, const Box2&,
                      float*, CudaScratch&, device::cuda::Stream&) const {
  refuse();
}
void CudaGraph::labels(const SampleParams&, const PatchGeometry&, const ImageView&, const Box2&,
                       std::uint8_t, std::uint8_t*, CudaScratch&, device::cuda::Stream&) const {
  refuse();
}

}  // namespace headrace::transform
