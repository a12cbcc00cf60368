#include "headrace/core/error.hpp"
#include "headrace/transform/slide/slide_cuda_graph.hpp"

namespace headrace::transform {
namespace {

[[noreturn]] void refuse() { fail(ErrorCode::unsupported, "{}", device::cuda::describe()); }

}  // namespace

struct CudaScratch::State {};

CudaScratch::CudaScratch() { refuse(); }
CudaScratch::~CudaScratch() = default;
CudaScratch::CudaScratch(CudaScratch&&) noexcept = default;
CudaScratch& CudaScratch::operator=(CudaScratch&&) noexcept = default;

std::size_t CudaScratch::device_bytes() const noexcept { return 0; }

void CudaGraph::images(std::span<const CudaPatch>, const TensorFormat&, void*, CudaScratch&,
                       device::cuda::Stream&) const {
  refuse();
}
void CudaGraph::labels(std::span<const CudaPatch>, std::uint8_t, std::uint8_t*, CudaScratch&,
                       device::cuda::Stream&) const {
  refuse();
}

}  // namespace headrace::transform
