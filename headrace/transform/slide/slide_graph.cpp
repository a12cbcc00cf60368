#include "headrace/transform/slide/slide_graph.hpp"

#include <algorithm>
#include <cmath>

#include "headrace/core/error.hpp"
#include "headrace/device/buffer.hpp"
#include "headrace/device/cpu_isa.hpp"
#include "headrace/transform/slide/cpu/patch_rows.hpp"
#include "headrace/transform/slide/patch_kernel.hpp"
#include "headrace/transform/slide/place_patch.hpp"
#include "headrace/transform/slide/sample_params.hpp"
#include "headrace/transform/slide/slide_spec.hpp"

namespace headrace::transform {

struct Scratch::State {
  device::HostBuffer rows, plane;
  ControlPixels controls;

  /// Rows for the drivers; `blur` adds the plane.
  cpu::RowScratch reserve(const PatchSpec& patch, int grid, bool blur);
};

Scratch::Scratch() : state_(std::make_unique<State>()) {}
Scratch::~Scratch() = default;
Scratch::Scratch(Scratch&&) noexcept = default;
Scratch& Scratch::operator=(Scratch&&) noexcept = default;

cpu::RowScratch Scratch::State::reserve(const PatchSpec& patch, int grid, bool blur) {
  const std::size_t pitch = static_cast<std::size_t>(cpu::padded_width(patch.width));
  const std::size_t line = pitch + 2 * BlurKernel::kMaxRadius;  // blur's mirrored row is longer
  const std::size_t control = static_cast<std::size_t>(grid + 3 + math::kMostLanes);
  rows.reserve((2 * line + 3 * pitch + 2 * pitch + 2 * control) * sizeof(float));
  float* at = rows.as<float>();
  const auto take = [&at](std::size_t count) {
    float* begin = at;
    at += count;
    return begin;
  };
  cpu::RowScratch s{};
  s.y = take(line);
  s.x = take(line);
  s.noise = take(3 * pitch);
  s.place_t = take(pitch);
  s.place_cell = reinterpret_cast<std::int32_t*>(take(pitch));
  s.control_y = take(control);
  s.control_x = take(control);
  if (blur) {
    plane.reserve(pitch * static_cast<std::size_t>(patch.height + 2 * BlurKernel::kMaxRadius) *
                  sizeof(float));
    s.plane = plane.as<float>();
  }
  return s;
}

namespace {

void check_order(const TransformList& specs) {
  std::array<int, std::variant_size_v<TransformSpec::Variant>> seen;
  seen.fill(-1);
  int normalized = -1;
  for (int i = 0; i < static_cast<int>(specs.size()); ++i) {
    const std::string name = name_of(specs[i]);
    std::visit(
        [&]<typename Spec>(const Spec&) {
          int& before = seen[specs[i].index()];
          if (Spec::kOnce && before >= 0) {
            fail(ErrorCode::usage,
                 "transforms[{}]: a second {}, the first is transforms[{}]; keep one", i, name,
                 before);
          }
          before = i;
          if (normalized >= 0 && !Spec::kGeometry) {
            fail(ErrorCode::usage,
                 "transforms[{}]: {} stands behind normalize (transforms[{}]), which must be the "
                 "last "
                 "operation on colours; move normalize down",
                 i, name, normalized);
          }
          if (std::is_same_v<Spec, NormalizeSpec>) normalized = i;
        },
        specs[i]);
  }
}

void check_patch(const PatchSpec& patch) {
  constexpr int kMost = 16384;
  if (patch.height < 1 || patch.width < 1 || patch.height > kMost || patch.width > kMost) {
    fail(ErrorCode::usage, "patch.size: expected 1 to {} pixels a side, found {} × {}", kMost,
         patch.height, patch.width);
  }
  if (!(patch.mpp > 0) || !std::isfinite(patch.mpp)) {
    fail(ErrorCode::usage, "patch.mpp: expected micrometres a pixel above 0, found {}", patch.mpp);
  }
  if (patch.context.empty() || patch.context[0] != 1) {
    fail(ErrorCode::usage, "patch.context: expected a list that begins with 1");
  }
  for (const int k : patch.context) {
    if (k < 1 || k > 64 || std::count(patch.context.begin(), patch.context.end(), k) > 1) {
      fail(ErrorCode::usage, "patch.context: expected each of 1 to 64 once, found {}", k);
    }
  }
}

}  // namespace

Graph Graph::compile(const TransformList& specs, const PatchSpec& patch,
                     const std::function<ImageColour(const std::string&)>& colour_of) {
  check_patch(patch);
  check_order(specs);
  Graph graph;
  graph.patch_ = patch;
  graph.specs_ = specs;
  graph.reference_ = builtin_reference();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const auto* stain = std::get_if<StainNormalizeSpec>(&specs[i]);
    if (stain == nullptr || (stain->reference == kBuiltinReference && !colour_of)) continue;
    if (colour_of) graph.reference_ = colour_of(stain->reference);
    if (!colour_of || !graph.reference_.has_stain) {
      fail(ErrorCode::usage,
           "transforms[{}].stain_normalize.reference: there is no stain estimate of '{}'; name an "
           "image "
           "of the store that has one, or 'builtin'",
           i, stain->reference);
    }
  }
  return graph;
}

bool Graph::needs_stain() const noexcept {
  return std::any_of(specs_.begin(), specs_.end(), [](const TransformSpec& s) {
    return std::holds_alternative<StainNormalizeSpec>(s);
  });
}

bool Graph::needs_scanner() const noexcept {
  return std::any_of(specs_.begin(), specs_.end(), [](const TransformSpec& s) {
    return std::holds_alternative<ScannerColorSpec>(s);
  });
}

void Graph::image(const SampleParams& params, const PatchGeometry& geometry,
                  const ImageView& window, const Box2& level_extent, float* dst,
                  Scratch& scratch) const {
  Scratch::State& state = *scratch.state_;
  const bool blur = params.blur_sigma > 0;
  const cpu::RowScratch rows = state.reserve(patch_, params.elastic.grid, blur);
  const cpu::Driver& driver = cpu::driver_for(device::cpu_isa());
  const PatchKernel kernel =
      patch_kernel(params, patch_, geometry, window, level_extent, dst, state.controls);
  driver.image(kernel, rows);
  if (!blur) return;
  driver.blur(blur_kernel(params.blur_sigma, patch_, dst), rows);
  driver.recolour(
      {params.after_blur, params.noise_after_blur, kernel.stream, patch_.height, patch_.width, dst},
      rows);
}

void Graph::labels(const SampleParams& params, const PatchGeometry& geometry,
                   const ImageView& window, const Box2& level_extent, std::uint8_t outside,
                   std::uint8_t* dst, Scratch& scratch) const {
  Scratch::State& state = *scratch.state_;
  const cpu::RowScratch rows = state.reserve(patch_, params.elastic.grid, false);
  const LabelKernel kernel =
      label_kernel(params, patch_, geometry, window, level_extent, outside, dst, state.controls);
  cpu::driver_for(device::cpu_isa()).labels(kernel, rows);
}

}  // namespace headrace::transform
