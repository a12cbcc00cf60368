#include "headrace/transform/volume/volume_graph.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "headrace/core/error.hpp"
#include "headrace/device/buffer.hpp"
#include "headrace/transform/volume/cpu/volume_rows.hpp"
#include "headrace/transform/volume/place_volume.hpp"
#include "headrace/transform/volume/volume_spec.hpp"

namespace headrace::transform {

struct VolumeScratch::State {
  device::HostBuffer rows, volume;
  std::array<device::HostBuffer, 2> smooth;
  ControlVoxels controls;
  std::vector<PatchStatistics> statistics;
  std::vector<RowSums> sums;

  cpu::VolumeRowScratch reserve(const VolumePatchSpec& patch, int grid, std::size_t window_width,
                                bool neighbours);
};

VolumeScratch::VolumeScratch() : state_(std::make_unique<State>()) {}
VolumeScratch::~VolumeScratch() = default;
VolumeScratch::VolumeScratch(VolumeScratch&&) noexcept = default;
VolumeScratch& VolumeScratch::operator=(VolumeScratch&&) noexcept = default;

/// `neighbours` adds the second patch.
cpu::VolumeRowScratch VolumeScratch::State::reserve(const VolumePatchSpec& patch, int grid,
                                                    std::size_t window_width, bool neighbours) {
  const auto pitch = static_cast<std::size_t>(cpu::volume_pitch(patch.size_zyx[2]));
  const std::size_t line =
      std::max(pitch + 2 * VolumeBlurKernel::kMaxRadius, window_width + math::kMostLanes);
  const auto edge = static_cast<std::size_t>(grid + 3);
  const std::size_t plane = edge * edge + math::kMostLanes, control = edge + math::kMostLanes;
  rows.reserve((4 * pitch + line + 2 * pitch + 3 * (plane + control)) * sizeof(float));
  float* at = rows.as<float>();
  const auto take = [&at](std::size_t count) {
    float* begin = at;
    at += count;
    return begin;
  };
  cpu::VolumeRowScratch s{};
  for (float*& tap : s.tap) tap = take(pitch);
  s.values = take(pitch);
  s.line = take(line);
  s.place_t = take(pitch);
  s.place_cell = reinterpret_cast<std::int32_t*>(take(pitch));
  for (int axis = 0; axis < 3; ++axis) {
    s.slice_control[axis] = take(plane);
    s.row_control[axis] = take(control);
  }
  if (neighbours) {
    const auto depth = static_cast<std::size_t>(patch.size_zyx[0]),
               height = static_cast<std::size_t>(patch.size_zyx[1]),
               width = static_cast<std::size_t>(patch.size_zyx[2]);
    const std::size_t packs =
        math::kMostLanes * (std::max(depth, height) + 2 * VolumeBlurKernel::kMaxRadius);
    volume.reserve(sizeof(float) * (packs + depth * height * width));
    s.packs = volume.as<float>();
    s.volume = s.packs + packs;
  }
  return s;
}

namespace {

void check_patch(const VolumePatchSpec& patch) {
  constexpr std::int32_t kMost = 2048;
  for (const std::int32_t size : patch.size_zyx) {
    if (size < 1 || size > kMost) {
      fail(ErrorCode::usage, "patch.size: expected 1 to {} voxels a side, found {}", kMost, size);
    }
  }
  const auto& [depth, height, width] = patch.size_zyx;
  if (std::int64_t{depth} * height * width > std::numeric_limits<std::int32_t>::max()) {
    fail(ErrorCode::usage, "patch.size: {} x {} x {} are 2^31 voxels or more; take a smaller patch",
         depth, height, width);
  }
  for (const double spacing : patch.spacing_mm_zyx) {
    if (!(spacing > 0) || !std::isfinite(spacing)) {
      fail(ErrorCode::usage, "patch.spacing_mm: expected millimetres a voxel above 0, found {}",
           spacing);
    }
  }
}

/// Whether an entry is for a channel of this name.
bool is_for(const VolumeTransformSpec& spec, const std::string& channel) {
  const std::string own = channel_of(spec);
  return own.empty() || own == channel;
}

void check_order(const VolumeTransformList& specs, const ChannelPlace& channel) {
  std::array<int, std::variant_size_v<VolumeTransformSpec::Variant>> seen;
  seen.fill(-1);
  int changed = -1;
  for (int i = 0; i < static_cast<int>(specs.size()); ++i) {
    const VolumeTransformSpec& spec = specs[static_cast<std::size_t>(i)];
    if (!applies(spec, channel)) continue;
    const std::string name = name_of(spec);
    int& before = seen[spec.index()];
    const bool once = std::visit([](const auto& s) { return s.kOnce; }, spec);
    if (once && before >= 0) {
      fail(ErrorCode::usage, "transforms[{}]: a second {}, the first is transforms[{}]; keep one",
           i, name, before);
    }
    before = i;
    if (changed >= 0 && value_use(spec).needs_unit) {
      fail(ErrorCode::usage,
           "transforms[{}]: {} works on {}, but {} (transforms[{}]) stands in front of it; move {} "
           "up{}",
           i, name, channel.unit == IntensityUnit::hu ? "Hounsfield units" : "SUV",
           name_of(specs[static_cast<std::size_t>(changed)]), changed, name,
           std::holds_alternative<VolumeNormalizeSpec>(spec) ? ", or choose method fixed" : "");
    }
    if (changed < 0 && value_use(spec).leaves_unit) changed = i;
  }
}

bool needs(const VolumeTransformList& specs, StatsSource source, const std::string& channel) {
  return std::any_of(specs.begin(), specs.end(), [&](const VolumeTransformSpec& spec) {
    return is_for(spec, channel) && value_use(spec).statistics == source;
  });
}

}  // namespace

bool applies(const VolumeTransformSpec& spec, const ChannelPlace& channel) {
  return is_for(spec, channel.name) && unit_of(spec).value_or(channel.unit) == channel.unit;
}

VolumeGraph VolumeGraph::compile(const VolumeTransformList& specs, const VolumePatchSpec& patch,
                                 const IntensityStats& foreground, const ChannelPlace& channel) {
  check_patch(patch);
  check_order(specs, channel);
  if (needs_foreground(specs, channel.name) && foreground.voxels == 0) {
    fail(ErrorCode::usage,
         "transforms: normalisation by foreground needs labelled voxels in the training set, and "
         "there are none; label it, or choose zscore or fixed");
  }
  VolumeGraph graph;
  graph.patch_ = patch;
  graph.specs_ = specs;
  graph.foreground_ = foreground;
  graph.channel_ = channel;
  return graph;
}

bool VolumeGraph::needs_foreground(const VolumeTransformList& specs, const std::string& channel) {
  return needs(specs, StatsSource::foreground, channel);
}
bool VolumeGraph::needs_patient(const VolumeTransformList& specs, const std::string& channel) {
  return needs(specs, StatsSource::patient, channel);
}

namespace {

/// The window, smoothed along the axes that are reduced, in scratch memory.
VolumeView<std::int16_t> smoothed(const cpu::VolumeDriver& driver,
                                  const std::array<AxisSmoothing, 3>& smoothing,
                                  const VolumeView<std::int16_t>& image, const Box3& extent,
                                  const Box3& window, std::array<device::HostBuffer, 2>& memory) {
  VolumeView<std::int16_t> from = image;
  int next = 0;
  for (const int axis : {2, 1, 0}) {
    const AxisSmoothing& s = smoothing[static_cast<std::size_t>(axis)];
    if (s.radius == 0) continue;
    device::HostBuffer& buffer = memory[static_cast<std::size_t>(next)];
    next = 1 - next;
    buffer.reserve(sizeof(std::int16_t) * static_cast<std::size_t>(window.voxels()) + 64);
    VolumeView<std::int16_t> to = from;
    to.data = buffer.as<std::int16_t>();
    to.row_stride = window.size_zyx[2];
    to.slice_stride = window.size_zyx[1] * to.row_stride;
    SmoothKernel kernel = smooth_kernel(s, axis, extent, window);
    kernel.src = from.data;
    kernel.src_row = from.row_stride;
    kernel.src_slice = from.slice_stride;
    kernel.dst = buffer.as<std::int16_t>();
    kernel.dst_row = to.row_stride;
    kernel.dst_slice = to.slice_stride;
    driver.smooth(kernel);
    from = to;
  }
  return from;
}

VolumeStages resolved(const VolumeStages& stages, const std::vector<PatchStatistics>& passes) {
  VolumeStages out = stages;
  for (int i = 0; i < out.count; ++i) out.stage[i] = resolve(out.stage[i], passes.data());
  return out;
}

PatchStatistics statistics_of(const std::vector<RowSums>& rows, const VolumePatchSpec& patch,
                              float shift) {
  const auto [depth, height, width] = patch.size_zyx;
  std::vector<RowSums> slices(static_cast<std::size_t>(depth));
  for (std::size_t z = 0; z < slices.size(); ++z)
    slices[z] = sums_of(rows.data() + z * static_cast<std::size_t>(height), height);
  return statistics_of(sums_of(slices.data(), depth), static_cast<double>(depth) * height * width,
                       shift);
}

}  // namespace

void VolumeGraph::run(const VolumeParams& params, const VolumeGeometry& geometry,
                      const VolumeView<std::int16_t>& image, const VolumeView<std::uint8_t>& labels,
                      const Box3& extent, std::uint8_t outside_label, float* dst,
                      std::uint8_t* dst_labels, VolumeScratch& scratch) const {
  VolumeScratch::State& state = *scratch.state_;
  const bool neighbours =
      std::any_of(params.passes.begin(), params.passes.end(),
                  [](const VolumePass& p) { return p.kind != VolumePass::Kind::stages; });
  const cpu::VolumeRowScratch rows = state.reserve(
      patch_, params.elastic.grid, std::size_t(geometry.window.size_zyx[2]), neighbours);
  const cpu::VolumeDriver& driver = cpu::volume_driver_for(device::cpu_isa());
  const auto smoothing = smoothing_of(params, geometry.scale_zyx);
  const VolumeView<std::int16_t> window =
      smoothed(driver, smoothing, image, extent, geometry.window, state.smooth);
  const std::int32_t row_count = patch_.size_zyx[0] * patch_.size_zyx[1];
  state.statistics.assign(params.passes.size(), {});
  for (std::size_t i = 0; i < params.passes.size(); ++i) {
    const VolumePass& pass = params.passes[i];
    VolumeStagesKernel stages{resolved(pass.stages, state.statistics), {}, dst};
    std::copy(patch_.size_zyx.begin(), patch_.size_zyx.end(), stages.size);
    if (pass.statistics) state.sums.resize(static_cast<std::size_t>(row_count));
    RowSums* wanted = pass.statistics ? state.sums.data() : nullptr;
    if (i == 0) {
      const VolumeKernel kernel = volume_kernel(params, patch_, geometry, window, labels, extent,
                                                outside_label, dst, dst_labels, state.controls);
      driver.gather(kernel, rows, wanted);
    } else if (pass.kind == VolumePass::Kind::stages) {
      driver.stages(stages, rows, wanted);
    } else {
      if (pass.kind == VolumePass::Kind::blur) {
        driver.blur(volume_blur_kernel(pass.sigma, patch_, dst), rows);
      } else {
        driver.low_resolution(low_resolution_kernel(pass.small, patch_, dst), rows);
      }
      if (pass.statistics) driver.statistics(stages, rows, wanted);
    }
    if (!pass.statistics) continue;
    state.statistics[i] = statistics_of(state.sums, patch_, dst[0]);
  }
}

}  // namespace headrace::transform
