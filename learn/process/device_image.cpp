#include "learn/process/device_image.hpp"

#include <algorithm>
#include <cstring>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/ordered_tasks.hpp"
#include "learn/process/device_files.hpp"
#include "learn/process/regions.hpp"
#include "learn/process/tile_pixel.hpp"

namespace headrace::process {
namespace {

// Rows of one launch: bounds the sums of gaussian, and is below the 65,535 that a launch may have.
constexpr std::int64_t kBandRows = 1024;

std::int64_t count(std::int64_t extent, std::int64_t edge) { return (extent + edge - 1) / edge; }

/// Boxes of a grid over the image, each on a thread with its own workspace of `bytes` of the host.
template <typename Body>
void each_box(ThreadPool& pool, Accelerator& accelerator, const ImageInfo& info,
              std::int64_t height, std::int64_t width, std::size_t bytes, const Body& body) {
  const std::int64_t across = count(info.width, width);
  const auto boxes = static_cast<std::size_t>(across * count(info.height, height));
  const auto workers = std::min(static_cast<std::size_t>(pool.size()), boxes);
  LimitedPool<Workspace> workspaces;
  for (std::size_t i = 0; i < workers; ++i) {
    Workspace workspace(accelerator);
    workspace.on_host(bytes);
    workspaces.put(std::move(workspace));
  }
  run_in_order(pool, boxes, workers, [&](std::size_t i) {
    const std::int64_t y = static_cast<std::int64_t>(i) / across * height;
    const std::int64_t x = static_cast<std::int64_t>(i) % across * width;
    LimitedPool<Workspace>::Lease workspace(workspaces);
    body(workspace->queue(), workspace->on_host(bytes),
         Box2{y, x, std::min(height, info.height - y), std::min(width, info.width - x)});
  });
  for (Workspace& workspace : workspaces.idle()) workspace.queue().wait();
}

/// Tries the required or possible ways; false: the source is to be read.
bool load_past_the_source(const ImageSource& source, ThreadPool& pool, Accelerator& accelerator,
                          zarr::DecodeOn decode, std::uint8_t* pixels, std::string& loaded_by) {
  const storage::GpuDirect direct = accelerator.direct();
  if (decode == zarr::DecodeOn::gpu) {
    const JpegBlocks blocks = source.jpeg_blocks();
    if (blocks.why_not.empty()) {
      loaded_by = load_jpegs(source, blocks, pool, accelerator, pixels);
      return true;
    }
    if (direct == storage::GpuDirect::off) {
      fail(ErrorCode::unsupported, "{} gpu: {}. Set it to auto or cpu", Option{"decode"},
           blocks.why_not);
    }
  }
  if (direct == storage::GpuDirect::off) return false;
  const StoredPixels stored = source.stored_pixels();
  if (stored.why_not.empty()) {
    loaded_by = load_stored(source, stored, pool, accelerator, pixels);
    return true;
  }
  if (direct == storage::GpuDirect::on) {
    fail(ErrorCode::unsupported, "GPUDirect is on: {}. Set it to auto or off", stored.why_not);
  }
  return false;
}

}  // namespace

device::Memory device_memory_for(Accelerator& accelerator, std::size_t bytes, const char* what) {
  const std::size_t free = accelerator.free_bytes();
  if (bytes > free) {
    fail(ErrorCode::memory, "{} takes {} MiB of the GPU's memory, {} MiB are left; use {} tilewise",
         what, bytes >> 20, free >> 20, Option{"mode"});
  }
  return accelerator.device_memory(bytes);
}

DeviceImage::DeviceImage(const ImageSource& source, ThreadPool& pool, Accelerator& accelerator,
                         zarr::DecodeOn decode)
    : info_(source.info()), fingerprint_(source.fingerprint()), accelerator_(accelerator) {
  const std::int64_t channels = info_.channels, row = info_.width * channels;
  pixels_ = device_memory_for(accelerator, static_cast<std::size_t>(info_.height * row),
                              "the whole image");
  for (int i = 0; i < pool.size(); ++i) readers_.put(Workspace(accelerator));
  if (load_past_the_source(source, pool, accelerator, decode, pixels_.get(), loaded_by_)) return;
  const std::int64_t pitch = info_.block_width * channels;
  each_box(pool, accelerator, info_, info_.block_height, info_.block_width,
           static_cast<std::size_t>(info_.block_height * pitch),
           [&](AcceleratorQueue& queue, std::uint8_t* host, const Box2& box) {
             queue.wait();  // for the copy of the block before
             source.read(box, host, pitch);
             queue.to_device(pixels_.get() + box.y0 * row + box.x0 * channels, row, host, pitch,
                             box.width * channels, box.height);
           });
}

void DeviceImage::read(const Box2& box, std::uint8_t* dst, std::int64_t row_bytes) const {
  LimitedPool<Workspace>::Lease workspace(readers_);
  const std::int64_t row = info_.width * info_.channels, part = box.width * info_.channels;
  const auto bytes = static_cast<std::size_t>(box.height * part);
  std::uint8_t* host = workspace->on_host(bytes);
  workspace->queue().to_host(host, part, pixels_.get() + box.y0 * row + box.x0 * info_.channels,
                             row, part, box.height);
  workspace->queue().wait();
  for (std::int64_t y = 0; y < box.height; ++y) {
    std::memcpy(dst + y * row_bytes, host + y * part, static_cast<std::size_t>(part));
  }
}

device::Memory DeviceImage::memory_for(std::size_t bytes, const char* what) const {
  return device_memory_for(accelerator_, bytes, what);
}

SourceView DeviceImage::view() const {
  return {
      pixels_.get(), info_.width * info_.channels, info_.height, 0, 0, info_.height, info_.width,
      info_.channels};
}

std::string run_on_device(const DeviceImage& image, const Operation& operation, ImageSink& sink,
                          std::int64_t chunk, ThreadPool& pool, StageClocks& clocks) {
  const ImageInfo& info = image.info();
  Accelerator& accelerator = image.accelerator();
  const bool interleaved = sink.interleaved();
  TileKernel kernel = operation.kernel();
  kernel.source = image.view();
  kernel.width = static_cast<std::int32_t>(info.width);
  kernel.height = static_cast<std::int32_t>(std::min(info.height, kBandRows));
  const device::Memory sums =
      image.memory_for(static_cast<std::size_t>(sums_of(kernel)) * sizeof(float), "the blur");
  const device::Memory memory =
      image.memory_for(result_bytes(operation, info.height, info.width), "the whole result");
  const ResultView result = result_view(memory.get(), operation, {0, 0, info.height, info.width},
                                        info.height, info.width, interleaved);
  {
    const StageClock::Running running(clocks.process);
    const auto queue = accelerator.queue();
    kernel.out.channel_bytes = result.channel_bytes;
    kernel.out.row_bytes = result.row_bytes;
    kernel.out.pixel_bytes = result.pixel_bytes;
    for (std::int64_t y = 0; y < info.height; y += kBandRows) {
      kernel.y0 = y;
      kernel.height = static_cast<std::int32_t>(std::min(kBandRows, info.height - y));
      kernel.out.data = result.data + y * result.row_bytes;
      queue->run(kernel, reinterpret_cast<float*>(sums.get()));
    }
    queue->wait();
  }
  const StageClock::Running running(clocks.save);
  if (accelerator.direct() != storage::GpuDirect::off && sink.takes_files()) {
    return store_chunks(info, operation, result.data, sink, chunk, pool, accelerator);
  }
  const int planes = interleaved ? 1 : operation.channels();
  each_box(pool, accelerator, info, chunk, chunk, result_bytes(operation, chunk, chunk),
           [&](AcceleratorQueue& queue, std::uint8_t* host, const Box2& box) {
             const std::int64_t cy = box.y0 / chunk, cx = box.x0 / chunk;
             if (sink.has(cy, cx)) return;
             const ResultView view = result_view(host, operation, box, chunk, chunk, interleaved);
             for (int plane = 0; plane < planes; ++plane) {
               queue.to_host(view.data + plane * view.channel_bytes, view.row_bytes,
                             result.data + plane * result.channel_bytes +
                                 box.y0 * result.row_bytes + box.x0 * result.pixel_bytes,
                             result.row_bytes, box.width * view.pixel_bytes, box.height);
             }
             queue.wait();
             sink.write(cy, cx,
                        {reinterpret_cast<const std::byte*>(view.data), view.channel_bytes,
                         view.row_bytes, view.pixel_bytes});
           });
  return {};
}

}  // namespace headrace::process
