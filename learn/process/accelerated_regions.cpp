#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/core/limited_pool.hpp"
#include "headrace/core/option_name.hpp"
#include "learn/process/regions.hpp"
#include "learn/process/tile_pixel.hpp"

namespace headrace::process {
namespace {

// Areas of a workspace.
constexpr std::size_t kSource = 0, kResult = 1, kSums = 2;

class AcceleratedRegions : public Regions {
 public:
  AcceleratedRegions(const Operation& operation, const TilewisePlan& plan, const ImageInfo& info,
                     Accelerator& accelerator, std::uint64_t device_bytes)
      : operation_(operation), plan_(plan), accelerator_(accelerator) {
    const std::int64_t r = plan.region, halo = operation.halo();
    columns_ = std::min(info.width, r + 2 * halo);
    source_rows_ = std::min(info.height, r + 2 * halo);
    source_bytes_ = static_cast<std::size_t>(source_rows_ * columns_ * info.channels);
    TileKernel largest = operation.kernel();
    largest.source.channels = info.channels;
    largest.height = static_cast<std::int32_t>(std::min(info.height, r));
    largest.width = static_cast<std::int32_t>(std::min(info.width, r));
    sums_bytes_ = static_cast<std::size_t>(sums_of(largest)) * sizeof(float);
    result_bytes_ = result_bytes(operation, r, r);
    const std::uint64_t workspace = source_bytes_ + result_bytes_ + sums_bytes_;
    if (workspace > device_bytes) {
      const std::uint64_t mib = (workspace + (1 << 20) - 1) >> 20;
      fail(ErrorCode::memory,
           "{} {}: a region of {} pixels takes {} MiB of the GPU's memory; give "
           "{} {} or smaller tiles and chunks",
           Option{"device_memory"}, device_bytes >> 20, r, mib, Option{"device_memory"}, mib);
    }
    const std::uint64_t workspaces =
        std::min<std::uint64_t>(device_bytes / workspace, plan.workers);
    for (std::uint64_t i = 0; i < workspaces; ++i) {
      Workspace made(accelerator);
      made.on_device(kSource, source_bytes_);
      made.on_device(kResult, result_bytes_);
      made.on_device(kSums, sums_bytes_);
      workspaces_.put(std::move(made));
    }
    for (std::size_t i = 0; i < plan.workers; ++i) {
      results_.put(accelerator.host_memory(result_bytes_));
    }
  }

  std::uint8_t* ring(std::size_t size_bytes) override {
    if (size_bytes > ring_bytes_) {
      ring_.reset();
      ring_ = accelerator_.host_memory(size_bytes);
      ring_bytes_ = size_bytes;
    }
    return ring_.get();
  }

  RegionResult run(const SourceView& source, const Box2& box, bool interleaved) override {
    // Every worker holds at most one result, so one is free.
    auto host = std::make_shared<LimitedPool<device::Memory>::Lease>(results_);
    const ResultView view =
        result_view((*host)->get(), operation_, box, plan_.region, plan_.region, interleaved);
    LimitedPool<Workspace>::Lease workspace(workspaces_);
    run_in(*workspace, source, box, view);
    return {view, std::move(host)};
  }

 private:
  void run_in(Workspace& workspace, const SourceView& source, const Box2& box,
              const ResultView& view) {
    const std::int64_t halo = operation_.halo(), channels = source.channels;
    const std::int64_t top = std::max<std::int64_t>(0, box.y0 - halo);
    const std::int64_t bottom = std::min(source.height, box.y0 + box.height + halo);
    const std::int64_t left = std::max<std::int64_t>(0, box.x0 - halo);
    const std::int64_t right = std::min(source.width, box.x0 + box.width + halo);
    const std::int64_t pitch = columns_ * channels;
    AcceleratorQueue& queue = workspace.queue();
    std::uint8_t* const pixels = workspace.on_device(kSource, source_bytes_);
    std::uint8_t* const result = workspace.on_device(kResult, result_bytes_);
    for (std::int64_t y = top; y < bottom;) {  // the ring may wrap between two rows
      const std::int64_t slot = (y - source.y0) % source.ring_rows;
      const std::int64_t rows = std::min(bottom - y, source.ring_rows - slot);
      queue.to_device(pixels + (y - top) * pitch, pitch,
                      source.base + slot * source.row_bytes + (left - source.x0) * channels,
                      source.row_bytes, (right - left) * channels, rows);
      y += rows;
    }
    TileKernel kernel = operation_.kernel();
    kernel.source = {pixels, pitch,         source_rows_, top,
                     left,   source.height, source.width, source.channels};
    kernel.y0 = box.y0;
    kernel.x0 = box.x0;
    kernel.height = static_cast<std::int32_t>(box.height);
    kernel.width = static_cast<std::int32_t>(box.width);
    kernel.out.data = result;
    kernel.out.channel_bytes = view.channel_bytes;
    kernel.out.row_bytes = view.row_bytes;
    kernel.out.pixel_bytes = view.pixel_bytes;
    queue.run(kernel, reinterpret_cast<float*>(workspace.on_device(kSums, sums_bytes_)));
    const std::int64_t planes = view.pixel_bytes > view.channel_bytes ? 1 : operation_.channels();
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      const std::int64_t at = plane * view.channel_bytes;
      queue.to_host(view.data + at, view.row_bytes, result + at, view.row_bytes,
                    box.width * view.pixel_bytes, box.height);
    }
    queue.wait();
  }

  const Operation& operation_;
  const TilewisePlan& plan_;
  Accelerator& accelerator_;
  std::int64_t columns_ = 0, source_rows_ = 0;
  std::size_t source_bytes_ = 0, result_bytes_ = 0, sums_bytes_ = 0;
  device::Memory ring_;
  std::size_t ring_bytes_ = 0;
  LimitedPool<device::Memory> results_;
  LimitedPool<Workspace> workspaces_;  ///< declared after the host memory that their work uses
};

}  // namespace

std::unique_ptr<Regions> accelerated_regions(const Operation& operation, const TilewisePlan& plan,
                                             const ImageInfo& info, Accelerator& accelerator,
                                             std::uint64_t device_bytes) {
  return std::make_unique<AcceleratedRegions>(operation, plan, info, accelerator, device_bytes);
}

}  // namespace headrace::process
