#include "learn/process/regions.hpp"

#include "headrace/device/buffer.hpp"

namespace headrace::process {
namespace {

class CpuRegions : public Regions {
 public:
  CpuRegions(const Operation& operation, const TilewisePlan& plan)
      : operation_(operation), plan_(plan) {}

  std::uint8_t* ring(std::size_t size_bytes) override {
    ring_.reserve(size_bytes);
    return ring_.as<std::uint8_t>();
  }

  RegionResult run(const SourceView& source, const Box2& box, bool interleaved) override {
    const std::int64_t r = plan_.region;
    auto memory =
        std::make_shared<device::BufferPool::Lease>(results_.take(result_bytes(operation_, r, r)));
    const ResultView view =
        result_view((*memory)->as<std::uint8_t>(), operation_, box, r, r, interleaved);
    run_tiles(operation_, source, box, plan_.tile, plan_.tile, view);
    return {view, std::move(memory)};
  }

 private:
  const Operation& operation_;
  const TilewisePlan& plan_;
  device::HostBuffer ring_;
  device::BufferPool results_;
};

}  // namespace

std::size_t result_bytes(const Operation& operation, std::int64_t height, std::int64_t width) {
  return static_cast<std::size_t>(height * width * operation.channels()) *
         size_of(operation.dtype());
}

ResultView result_view(std::uint8_t* data, const Operation& operation, const Box2& box,
                       std::int64_t height, std::int64_t width, bool interleaved) {
  const auto item = static_cast<std::int64_t>(size_of(operation.dtype()));
  const std::int64_t channels = operation.channels();
  return {data,
          box.y0,
          box.x0,
          interleaved ? item : height * width * item,
          interleaved ? width * item * channels : width * item,
          interleaved ? item * channels : item};
}

std::unique_ptr<Regions> cpu_regions(const Operation& operation, const TilewisePlan& plan) {
  return std::make_unique<CpuRegions>(operation, plan);
}

}  // namespace headrace::process
