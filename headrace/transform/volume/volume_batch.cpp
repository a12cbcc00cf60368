#include "headrace/transform/volume/volume_batch.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "headrace/core/error.hpp"
#include "headrace/transform/volume/operations/volume_blur.hpp"
#include "headrace/transform/volume/operations/volume_low_resolution.hpp"
#include "headrace/transform/volume/place_volume.hpp"

namespace headrace::transform {
namespace {

constexpr std::size_t kAlign = 64;
std::size_t aligned(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

constexpr std::array kSmoothOrder{2, 1, 0};

bool later_needs(const VolumeParams& params, bool neighbours) {
  return std::any_of(params.passes.begin(), params.passes.end(), [&](const VolumePass& pass) {
    return neighbours ? pass.kind != VolumePass::Kind::stages : pass.statistics;
  });
}

std::int32_t voxels_of(const std::array<std::int32_t, 3>& size) {
  return size[0] * size[1] * size[2];
}

}  // namespace

/// Puts arrays into the staging buffer and launches on the list.
struct VolumeBatch::Writer {
  std::byte *staging, *there;
  std::size_t size, used = 0;
  std::vector<VolumeLaunch> launches;

  template <typename T>
  const T* put(const T* values, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t at = used;
    used += aligned(count * sizeof(T));
    if (used > size) fail(ErrorCode::internal, "a staging buffer of {} bytes is too small", size);
    if (count > 0) std::memcpy(staging + at, values, count * sizeof(T));
    return reinterpret_cast<const T*>(there + at);
  }
  template <typename T>
  const T* put(const std::vector<T>& values) {
    return put(values.data(), values.size());
  }
  void launch(VolumeLaunch::Pass pass, std::size_t items, std::int64_t elements,
              const void* kernels, VolumeStages* resolved = nullptr, std::int32_t axis = 0) {
    if (items == 0 || elements == 0) return;
    launches.push_back({pass, static_cast<std::int32_t>(items), static_cast<std::int32_t>(elements),
                        kernels, resolved, axis});
  }
};

VolumeBatch::VolumeBatch(const VolumeGraph& graph, std::span<const VolumePatch> patches)
    : graph_(graph), patches_(patches) {
  const auto [depth, height, width] = graph.patch().size_zyx;
  rows_ = depth * height;
  voxels_ = rows_ * width;
  for (const VolumePatch& patch : patches) add_room(patch);
  resolved_ = work(sizeof(VolumeStages) * patches.size());
  // At most one array of each kind for each pass.
  staging_bytes_ += kAlign * (5 + 5 * (most_passes_ + 1));
}

std::size_t VolumeBatch::work(std::size_t bytes) {
  const std::size_t at = work_bytes_;
  work_bytes_ += aligned(bytes);
  return at;
}

void VolumeBatch::add_room(const VolumePatch& patch) {
  const VolumeParams& params = *patch.params;
  const std::size_t passes = params.passes.size();
  most_passes_ = std::max(most_passes_, passes);
  Room& room = rooms_.emplace_back();
  std::size_t smooth = 0;
  for (const AxisSmoothing& s : smoothing_of(params, patch.geometry->scale_zyx)) {
    if (s.radius == 0 || smooth == 2) continue;
    // A gather may read 16 more bytes after the last voxel.
    room.smooth[smooth++] = work(
        sizeof(std::int16_t) * static_cast<std::size_t>(patch.geometry->window.voxels()) + kAlign);
  }
  staging_bytes_ += 3 * sizeof(SmoothKernel) + sizeof(GatheredPatch) + sizeof(RowControls);
  if (const int grid = params.elastic.grid; grid > 0) {
    const std::int64_t values = std::int64_t{rows_} * 3 * (grid + 3);
    if (values > std::numeric_limits<std::int32_t>::max()) {
      fail(ErrorCode::memory,
           "transforms: elastic of {} cells over {} rows is more than a GPU takes; lower its grid "
           "or patch.size",
           grid, rows_);
    }
    const auto edge = static_cast<std::size_t>(grid + 3);
    room.row_controls = work(sizeof(float) * static_cast<std::size_t>(values));
    staging_bytes_ += 3 * aligned(sizeof(float) * (edge * edge * edge + math::kMostLanes));
  }
  staging_bytes_ += (passes + 1) * (sizeof(StagedPatch) + sizeof(SummedPatch) +
                                    sizeof(BlurredVolume) + sizeof(ReducedVolume));
  if (passes == 1) return;
  const std::size_t bytes = sizeof(float) * static_cast<std::size_t>(voxels_);
  room.planes[0] = work(bytes);
  if (later_needs(params, true)) room.planes[1] = work(bytes);
  if (!later_needs(params, false)) return;
  room.rows = work(sizeof(RowSums) * static_cast<std::size_t>(rows_));
  room.slices = work(sizeof(RowSums) * static_cast<std::size_t>(graph_.patch().size_zyx[0]));
  room.statistics = work(sizeof(PatchStatistics) * passes);
}

/// The windows of patches that are reduced, smoothed along those axes.
void VolumeBatch::smooth(Writer& to, std::byte* work,
                         std::vector<VolumeView<std::int16_t>>& windows) const {
  std::vector<std::size_t> next(patches_.size(), 0);
  for (const int axis : kSmoothOrder) {
    std::vector<SmoothKernel> kernels;
    std::int64_t most = 0;
    for (std::size_t i = 0; i < patches_.size(); ++i) {
      const VolumePatch& p = patches_[i];
      const Box3& window = p.geometry->window;
      const AxisSmoothing s =
          smoothing_of(*p.params, p.geometry->scale_zyx)[static_cast<std::size_t>(axis)];
      if (s.radius == 0) continue;
      VolumeView<std::int16_t>& from = windows[i];
      SmoothKernel& k = kernels.emplace_back(smooth_kernel(s, axis, p.extent, window));
      k.src = from.data;
      k.src_row = from.row_stride;
      k.src_slice = from.slice_stride;
      k.dst = reinterpret_cast<std::int16_t*>(work + rooms_[i].smooth[next[i]++ % 2]);
      k.dst_row = window.size_zyx[2];
      k.dst_slice = window.size_zyx[1] * k.dst_row;
      from.data = k.dst;
      from.row_stride = k.dst_row;
      from.slice_stride = k.dst_slice;
      std::int64_t count = 1;
      for (int n = 0; n < 3; ++n) count *= std::max(k.end[n] - k.begin[n], 0);
      most = std::max(most, count);
    }
    to.launch(VolumeLaunch::Pass::smooth, kernels.size(), most, to.put(kernels));
  }
}

void VolumeBatch::gather(Writer& to, std::byte* work,
                         const std::vector<VolumeView<std::int16_t>>& windows,
                         std::uint8_t outside_label, std::uint8_t* dst_labels) const {
  std::vector<GatheredPatch> gathered;
  std::vector<RowControls> row_controls;
  std::int64_t most = 0;
  ControlVoxels controls;
  for (std::size_t i = 0; i < patches_.size(); ++i) {
    const VolumePatch& p = patches_[i];
    std::uint8_t* labels =
        dst_labels == nullptr ? nullptr : dst_labels + i * static_cast<std::size_t>(voxels_);
    float* dst = p.params->passes.size() == 1
                     ? nullptr
                     : reinterpret_cast<float*>(work + rooms_[i].planes[0]);
    VolumeKernel k = volume_kernel(*p.params, graph_.patch(), *p.geometry, windows[i], p.labels,
                                   p.extent, outside_label, dst, labels, controls);
    k.dst_labels = labels;
    k.labels.outside = outside_label;
    auto* rows = reinterpret_cast<float*>(work + rooms_[i].row_controls);
    if (const std::int32_t grid = k.placement.grid; grid > 0) {
      for (std::size_t axis = 0; axis < 3; ++axis)
        k.placement.control[axis] = to.put(controls[axis]);
      row_controls.push_back({k.placement, rows_, k.size[1], rows});
      most = std::max(most, std::int64_t{rows_} * 3 * (grid + 3));
    }
    gathered.push_back({k, rows});
  }
  to.launch(VolumeLaunch::Pass::row_controls, row_controls.size(), most, to.put(row_controls));
  to.launch(VolumeLaunch::Pass::gather, gathered.size(), voxels_, to.put(gathered));
}

void VolumeBatch::later_passes(Writer& to, std::byte* work) const {
  using Pass = VolumeLaunch::Pass;
  const auto [depth, height, width] = graph_.patch().size_zyx;
  auto* resolved = reinterpret_cast<VolumeStages*>(work + resolved_);
  // For each patch, the memory that holds it now, and the other one.
  std::vector<std::array<float*, 2>> planes;
  for (const Room& room : rooms_) {
    planes.push_back({reinterpret_cast<float*>(work + room.planes[0]),
                      reinterpret_cast<float*>(work + room.planes[1])});
  }
  for (std::size_t pass = 0; pass <= most_passes_; ++pass) {
    std::vector<StagedPatch> staged;
    std::vector<BlurredVolume> blurred;
    std::vector<ReducedVolume> reduced;
    std::vector<SummedPatch> summed;
    std::int32_t small = 0;
    for (std::size_t i = 0; i < patches_.size(); ++i) {
      const auto& passes = patches_[i].params->passes;
      auto* statistics = reinterpret_cast<PatchStatistics*>(work + rooms_[i].statistics);
      auto& [current, other] = planes[i];
      const auto number = static_cast<std::int32_t>(i);
      if (pass == passes.size() && passes.back().kind != VolumePass::Kind::stages) {
        staged.push_back({{}, statistics, current, nullptr, width, number});
      }
      if (pass >= passes.size()) continue;
      const VolumePass& what = passes[pass];
      if (pass == 0) {
        // gathered before
      } else if (what.kind == VolumePass::Kind::stages) {
        float* dst = pass + 1 == passes.size() ? nullptr : current;
        staged.push_back({what.stages, statistics, current, dst, width, number});
      } else if (what.kind == VolumePass::Kind::blur) {
        blurred.push_back(
            {volume_blur_kernel(what.sigma, graph_.patch(), nullptr), current, other});
        std::swap(current, other);
      } else {
        reduced.push_back(
            {low_resolution_kernel(what.small, graph_.patch(), nullptr), current, other});
        small = std::max(small, voxels_of(what.small));
      }
      if (!what.statistics) continue;
      summed.push_back({current, depth, height, width,
                        reinterpret_cast<RowSums*>(work + rooms_[i].rows),
                        reinterpret_cast<RowSums*>(work + rooms_[i].slices), statistics + pass});
    }
    const StagedPatch* stages = to.put(staged);
    to.launch(Pass::resolve, staged.size(), VolumeStages::kMax, stages, resolved);
    to.launch(Pass::stages, staged.size(), voxels_, stages, resolved);
    const BlurredVolume* blurs = to.put(blurred);
    for (const int axis : {2, 1, 0})
      to.launch(Pass::blur, blurred.size(), voxels_, blurs, nullptr, axis);
    const ReducedVolume* reductions = to.put(reduced);
    to.launch(Pass::reduce, reduced.size(), small, reductions);
    to.launch(Pass::enlarge, reduced.size(), voxels_, reductions);
    const SummedPatch* sums = to.put(summed);
    to.launch(Pass::row_sums, summed.size(), rows_, sums);
    to.launch(Pass::slice_sums, summed.size(), depth, sums);
    to.launch(Pass::statistics, summed.size(), 1, sums);
  }
}

std::vector<VolumeLaunch> VolumeBatch::write(std::byte* staging, std::byte* staging_there,
                                             std::byte* work, std::uint8_t outside_label,
                                             std::uint8_t* dst_labels) const {
  Writer to{staging, staging_there, staging_bytes_, 0, {}};
  std::vector<VolumeView<std::int16_t>> windows;
  for (const VolumePatch& patch : patches_) windows.push_back(patch.image);
  smooth(to, work, windows);
  gather(to, work, windows, outside_label, dst_labels);
  later_passes(to, work);
  return std::move(to.launches);
}

}  // namespace headrace::transform
