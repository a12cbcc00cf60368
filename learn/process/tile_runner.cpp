#include "learn/process/tile_runner.hpp"

#include <algorithm>

#include "headrace/device/buffer.hpp"
#include "learn/process/cpu/tile_rows.hpp"

namespace headrace::process {

void run_tiles(const Operation& operation, const SourceView& source, const Box2& box,
               std::int64_t tile_height, std::int64_t tile_width, const ResultView& result) {
  static thread_local device::HostBuffer scratch;
  const cpu::Driver& driver = cpu::driver_for(device::cpu_isa());
  TileKernel kernel = operation.kernel();
  kernel.source = source;
  kernel.out.channel_bytes = result.channel_bytes;
  kernel.out.row_bytes = result.row_bytes;
  kernel.out.pixel_bytes = result.pixel_bytes;
  for (std::int64_t y = box.y0; y < box.y0 + box.height; y += tile_height) {
    for (std::int64_t x = box.x0; x < box.x0 + box.width; x += tile_width) {
      kernel.y0 = y;
      kernel.x0 = x;
      kernel.height = static_cast<std::int32_t>(std::min(tile_height, box.y0 + box.height - y));
      kernel.width = static_cast<std::int32_t>(std::min(tile_width, box.x0 + box.width - x));
      kernel.out.data = result.data + (y - result.origin_y) * result.row_bytes +
                        (x - result.origin_x) * result.pixel_bytes;
      scratch.reserve(static_cast<std::size_t>(cpu::scratch_floats(kernel)) * sizeof(float));
      driver.tile(kernel, scratch.as<float>());
    }
  }
}

}  // namespace headrace::process
