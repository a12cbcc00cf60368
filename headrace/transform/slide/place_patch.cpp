#include "headrace/transform/slide/place_patch.hpp"

#include <algorithm>

#include "headrace/core/error.hpp"

namespace headrace::transform {
namespace {

Placement placement_of(const SampleParams& params, const PatchSpec& patch,
                       const PatchGeometry& geometry, ControlPixels& controls) {
  const double k = geometry.context;
  const Affine2 from_centre{
      {k, 0, k * (0.5 - patch.height / 2.0), 0, k, k * (0.5 - patch.width / 2.0)}};
  // Tap coordinates: the centre of window pixel (0, 0) is (0, 0), so 0.5 is subtracted.
  const Affine2 to_window{{geometry.scale_y, 0, geometry.centre_in_window[0] - 0.5, 0,
                           geometry.scale_x, geometry.centre_in_window[1] - 0.5}};
  const Affine2 map = to_window * params.inverse * from_centre;
  Placement p{};
  p.y_row = static_cast<float>(map.m[0]);
  p.y_column = static_cast<float>(map.m[1]);
  p.y_offset = static_cast<float>(map.m[2]);
  p.x_row = static_cast<float>(map.m[3]);
  p.x_column = static_cast<float>(map.m[4]);
  p.x_offset = static_cast<float>(map.m[5]);
  p.grid = params.elastic.grid;
  if (p.grid == 0) return p;
  const auto grid_line = [&](double size, float& scale, float& offset) {
    scale = static_cast<float>(k * p.grid / size);
    offset = static_cast<float>((size / 2 + k * (0.5 - size / 2)) * p.grid / size);
  };
  grid_line(patch.height, p.grid_y_scale, p.grid_y_offset);
  grid_line(patch.width, p.grid_x_scale, p.grid_x_offset);
  const auto to_pixels = [](const std::vector<double>& um, double px_per_um,
                            std::vector<float>& out) {
    out.resize(um.size() + math::kMostLanes);  // a pack that begins at the last value
    for (std::size_t i = 0; i < um.size(); ++i) out[i] = static_cast<float>(um[i] * px_per_um);
    return out.data();
  };
  p.control_y = to_pixels(params.elastic.y_um, geometry.scale_y / patch.mpp, controls.y);
  p.control_x = to_pixels(params.elastic.x_um, geometry.scale_x / patch.mpp, controls.x);
  return p;
}

math::PixelWindow window_of(const PatchGeometry& geometry, const ImageView& view,
                            const Box2& extent) {
  if (view.height != geometry.window.height || view.width != geometry.window.width) {
    fail(ErrorCode::internal, "a window of {} × {} pixels was given for a geometry of {} × {}",
         view.height, view.width, geometry.window.height, geometry.window.width);
  }
  if (view.row_stride_bytes * view.height > 0x7FFFFFF0) {
    fail(ErrorCode::memory,
         "a window of {} bytes: expected less than 2 GiB. Choose a coarser level",
         view.row_stride_bytes * view.height);
  }
  math::PixelWindow w{};
  w.data = view.data;
  w.row_stride = static_cast<std::int32_t>(view.row_stride_bytes);
  w.y_limit = static_cast<float>(view.height - 1) - 1.0f / 128;
  w.x_limit = static_cast<float>(view.width - 1) - 1.0f / 128;
  const auto inside = [](std::int64_t v, std::int32_t most) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(v, 0, most));
  };
  w.valid_y0 = inside(extent.y0, view.height);
  w.valid_y1 = inside(extent.y0 + extent.height, view.height);
  w.valid_x0 = inside(extent.x0, view.width);
  w.valid_x1 = inside(extent.x0 + extent.width, view.width);
  return w;
}

bool is_whole(const math::PixelWindow& w, const ImageView& view) {
  return w.valid_y0 == 0 && w.valid_x0 == 0 && w.valid_y1 == view.height &&
         w.valid_x1 == view.width;
}

}  // namespace

PatchKernel patch_kernel(const SampleParams& params, const PatchSpec& patch,
                         const PatchGeometry& geometry, const ImageView& view, const Box2& extent,
                         float* dst, ControlPixels& controls) {
  PatchKernel kernel{};
  kernel.placement = placement_of(params, patch, geometry, controls);
  kernel.window = window_of(geometry, view, extent);
  kernel.whole = is_whole(kernel.window, view);
  kernel.program = params.before_blur;
  kernel.noise = params.noise_before_blur;
  kernel.stream = params.noise;
  kernel.stream.counter2 |= static_cast<std::uint32_t>(geometry.context);
  kernel.height = patch.height;
  kernel.width = patch.width;
  kernel.dst = dst;
  return kernel;
}

LabelKernel label_kernel(const SampleParams& params, const PatchSpec& patch,
                         const PatchGeometry& geometry, const ImageView& view, const Box2& extent,
                         std::uint8_t outside, std::uint8_t* dst, ControlPixels& controls) {
  LabelKernel kernel{};
  kernel.placement = placement_of(params, patch, geometry, controls);
  kernel.window = window_of(geometry, view, extent);
  kernel.outside = outside;
  kernel.height = patch.height;
  kernel.width = patch.width;
  kernel.dst = dst;
  return kernel;
}

}  // namespace headrace::transform
