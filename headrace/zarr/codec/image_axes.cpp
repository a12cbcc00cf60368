#include "headrace/zarr/codec/image_axes.hpp"

#include <fmt/ranges.h>

#include "headrace/core/error.hpp"

namespace headrace::zarr {

ImageAxes ImageAxes::of(const ChunkSpec& spec, std::string_view codec, std::int64_t max_edge,
                        const std::string& origin) {
  const std::int64_t last = spec.rank > 0 ? spec.shape[spec.rank - 1] : 0;
  ImageAxes axes;
  axes.rank = spec.rank;
  axes.c = spec.rank >= 3 && (last == 3 || last == 1) ? spec.rank - 1 : -1;
  axes.x = axes.c < 0 ? spec.rank - 1 : spec.rank - 2;
  axes.y = axes.x - 1;
  bool fits = spec.dtype == DType::uint8 && axes.y >= 0;
  for (int axis = 0; fits && axis < axes.y; ++axis) fits = spec.shape[axis] == 1;
  fits = fits && spec.shape[axes.y] <= max_edge && spec.shape[axes.x] <= max_edge;
  if (!fits) {
    fail(ErrorCode::unsupported,
         "{}: codec '{}': a chunk of {} {} elements is not an image; expected uint8 (y, x, 3), "
         "(y, x, 1) or (y, x) with edges up to {} (a (c, y, x) array needs transpose [1, 2, 0] "
         "before)",
         origin, codec, fmt::join(spec.shape.begin(), spec.shape.begin() + spec.rank, "x"),
         name_of(spec.dtype), max_edge);
  }
  axes.shape = {spec.shape[axes.y], spec.shape[axes.x],
                axes.c < 0 ? 1 : static_cast<int>(spec.shape[axes.c])};
  return axes;
}

}  // namespace headrace::zarr
