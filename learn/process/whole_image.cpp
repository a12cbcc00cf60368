#include "learn/process/whole_image.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "headrace/core/error.hpp"
#include "headrace/core/option_name.hpp"
#include "headrace/core/ordered_tasks.hpp"
#include "headrace/core/read_file.hpp"
#include "learn/process/tile_runner.hpp"

namespace headrace::process {
namespace {

// Size of a thread's piece of work: enough pixels, and rows that fit into its cache.
constexpr std::int64_t kBandRows = 128, kBandColumns = 4096;

std::uint64_t available_bytes() {
  std::istringstream file(read_file_if_there("/proc/meminfo"));
  std::string name, unit;
  std::uint64_t kib = 0;
  while (file >> name >> kib >> unit) {
    if (name == "MemAvailable:") return kib << 10;
  }
  return ~std::uint64_t{0};
}

device::HostBuffer checked_memory(std::uint64_t bytes, const char* what) {
  if (bytes > available_bytes()) {
    fail(ErrorCode::memory, "{} takes {} MiB, {} MiB are left; use {} tilewise", what, bytes >> 20,
         available_bytes() >> 20, Option{"mode"});
  }
  return device::HostBuffer(bytes);
}

std::int64_t count(std::int64_t extent, std::int64_t edge) { return (extent + edge - 1) / edge; }

/// Boxes of a grid that covers the image, run by index.
template <typename Body>
void each_box(ThreadPool& pool, const ImageInfo& info, std::int64_t height, std::int64_t width,
              const Body& body) {
  const std::int64_t across = count(info.width, width);
  const auto boxes = static_cast<std::size_t>(across * count(info.height, height));
  run_in_order(pool, boxes, static_cast<std::size_t>(pool.size()), [&](std::size_t i) {
    const std::int64_t y = static_cast<std::int64_t>(i) / across * height;
    const std::int64_t x = static_cast<std::int64_t>(i) % across * width;
    body(Box2{y, x, std::min(height, info.height - y), std::min(width, info.width - x)});
  });
}

}  // namespace

WholeImage::WholeImage(const ImageSource& source, ThreadPool& pool)
    : info_(source.info()), fingerprint_(source.fingerprint()) {
  const std::int64_t row = info_.width * info_.channels;
  memory_ = checked_memory(static_cast<std::uint64_t>(info_.height * row), "the whole image");
  each_box(pool, info_, info_.block_height, info_.block_width, [&](const Box2& box) {
    source.read(box, memory_.as<std::uint8_t>() + box.y0 * row + box.x0 * info_.channels, row);
  });
}

void WholeImage::read(const Box2& box, std::uint8_t* dst, std::int64_t row_bytes) const {
  for (std::int64_t y = 0; y < box.height; ++y) {
    std::memcpy(dst + y * row_bytes,
                pixels() + ((box.y0 + y) * info_.width + box.x0) * info_.channels,
                static_cast<std::size_t>(box.width * info_.channels));
  }
}

void run_whole(const WholeImage& image, const Operation& operation, ImageSink& sink,
               std::int64_t chunk, ThreadPool& pool, StageClocks& clocks) {
  const ImageInfo& info = image.info();
  const auto item = static_cast<std::int64_t>(size_of(operation.dtype()));
  const std::int64_t channels = operation.channels(), plane = info.height * info.width;
  auto memory =
      checked_memory(static_cast<std::uint64_t>(plane * channels * item), "the whole result");
  const bool interleaved = sink.interleaved();
  const ResultView result{memory.as<std::uint8_t>(),
                          0,
                          0,
                          interleaved ? item : plane * item,
                          info.width * item * (interleaved ? channels : 1),
                          interleaved ? item * channels : item};
  {
    const StageClock::Running running(clocks.process);
    const SourceView view{
        image.pixels(), info.width * info.channels, info.height, 0, 0, info.height, info.width,
        info.channels};
    each_box(pool, info, kBandRows, kBandColumns, [&](const Box2& box) {
      run_tiles(operation, view, box, box.height, box.width, result);
    });
  }
  const StageClock::Running running(clocks.save);
  each_box(pool, info, chunk, chunk, [&](const Box2& box) {
    const std::int64_t cy = box.y0 / chunk, cx = box.x0 / chunk;
    if (sink.has(cy, cx)) return;
    const std::uint8_t* data =
        result.data + box.y0 * result.row_bytes + box.x0 * result.pixel_bytes;
    sink.write(cy, cx,
               {reinterpret_cast<const std::byte*>(data), result.channel_bytes, result.row_bytes,
                result.pixel_bytes});
  });
}

}  // namespace headrace::process
