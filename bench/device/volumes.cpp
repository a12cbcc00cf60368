// Times the volume transform on a GPU: batches of two patches of 128³ voxels with their labels, all
// over levels in device memory that no cache holds, into bfloat16 there, one stream, one host
// thread. A chain is timed only if its bytes are the CPU's. A Markdown table on stdout, with the
// part of the memory's bandwidth and the goals.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bench/device/bandwidth.hpp"
#include "bench/device/commands.hpp"
#include "headrace/transform/volume/volume_cuda_graph.hpp"
#include "headrace/transform/volume/volume_params.hpp"
#include "headrace/transform/volume/volume_spec.hpp"

namespace {

using namespace headrace;
using namespace headrace::transform;
using device::cuda::DeviceBuffer;
using device::cuda::Stream;

constexpr std::int32_t kLevel = 384, kSize = 128;
constexpr std::size_t kVoxels = std::size_t{kSize} * kSize * kSize, kBatch = 2, kDrawn = 8;

struct Case {
  const char* op;
  std::vector<VolumeTransformSpec> specs;
  double goal_ms = 0, goal_gvoxel = 0;  ///< a batch, voxels a second; 0: none
};
std::vector<Case> cases() {
  VolumeAffineSpec affine;
  affine.rotate_deg = {-15, 15};
  affine.scale = {0.9, 1.1};
  const VolumeElasticSpec elastic{7, 8, 1};
  const WindowHuSpec window{-160, 240};
  const VolumeGammaSpec gamma{{0.7, 1.5}, 1, false, true, true};
  const VolumeNoiseSpec noise{{0.05, 0.05}, 1};
  const VolumeBlurSpec blur{{0.5, 1}, 1};
  const LowResolutionSpec low{{0.5, 1}, 1};
  return {{"copy", {}},
          {"affine+elastic", {affine, elastic}, 0, 20},
          {"affine+elastic+window+gamma+noise", {affine, elastic, window, gamma, noise}, 0.5, 0},
          {"the same with blur and low resolution",
           {affine, elastic, window, noise, blur, low, gamma},
           1,
           0}};
}

struct Drawn {
  std::shared_ptr<const VolumeParams> params;
  VolumeGeometry geometry;
};
using Batch = std::vector<Drawn>;

class Bench {
 public:
  Bench() {
    std::uint32_t state = 1;
    for (std::size_t i = 0; i < hu_.size(); ++i) {
      state = state * 1664525u + 1013904223u;
      hu_[i] = static_cast<std::int16_t>(static_cast<int>(i / 96 % 400) - 160 + int(state >> 27));
      label_[i] = static_cast<std::uint8_t>(i / 65536 / 8 % 3);
    }
    copy_to_device(hu_there_.as<std::byte>(), hu_.data(), hu_there_.size(), stream_);
    copy_to_device(label_there_.as<std::byte>(), label_.data(), label_there_.size(), stream_);
    stream_.wait();
    copy_bandwidth_ = device_bench::copy_bandwidth(stream_);
  }

  double copy_bandwidth() const { return copy_bandwidth_; }
  const std::string& goals() const { return goals_; }  ///< a line for each that a chain has

  /// One row of the table; false if the bytes are not the CPU's.
  bool row(const Case& c, std::size_t batches, int repeats) {
    const VolumeGraph graph = VolumeGraph::compile(c.specs, {{kSize, kSize, kSize}, {1, 1, 1}});
    std::vector<Batch> drawn;
    for (std::size_t i = 0; i < kDrawn; ++i) drawn.push_back(draw(graph, i));
    if (!same_bytes(graph, drawn.front())) {
      fmt::print("| {} | differs from the CPU, not timed | | | | | |\n", c.op);
      if (c.goal_ms + c.goal_gvoxel > 0)
        goals_ += device_bench::against(goal_of(c), "not timed", false);
      return false;
    }
    std::vector<double> ready, whole;
    for (int i = 0; i < repeats; ++i) {
      ready.push_back(seconds([&](std::size_t k) { start(graph, drawn[k % kDrawn]); }, batches));
      whole.push_back(seconds([&](std::size_t k) { start(graph, draw(graph, k)); }, batches));
    }
    std::sort(ready.begin(), ready.end());
    std::sort(whole.begin(), whole.end());
    const double each = ready[ready.size() / 2] / static_cast<double>(batches);
    const double rate = static_cast<double>(kBatch * kVoxels) / each * 1e-9;
    fmt::print("| {} | {:.3f} | {:.2f} | {:.3f} | {} |\n", c.op, each * 1e3, rate,
               whole[whole.size() / 2] / static_cast<double>(batches) * 1e3,
               device_bench::bandwidth_cells(bytes_of_batch(drawn) / each, copy_bandwidth_));
    if (c.goal_ms > 0) {
      goals_ += device_bench::against(goal_of(c), fmt::format("{:.3f} ms", each * 1e3),
                                      each * 1e3 <= c.goal_ms);
    }
    if (c.goal_gvoxel > 0) {
      goals_ += device_bench::against(goal_of(c), fmt::format("{:.2f} Gvoxel/s", rate),
                                      rate >= c.goal_gvoxel);
    }
    std::fflush(stdout);
    return true;
  }

 private:
  static std::string goal_of(const Case& c) {
    return c.goal_ms > 0 ? fmt::format("{:.1f} ms for 2 × 128³ with labels, {}", c.goal_ms, c.op)
                         : fmt::format("{:.0f} Gvoxel/s, {}", c.goal_gvoxel, c.op);
  }
  /// Bytes that a batch must move: windows of both kinds, as far as they lie in the level, and both
  /// results.
  static double bytes_of_batch(const std::vector<Batch>& drawn) {
    double voxels = 0;
    for (const Batch& batch : drawn) {
      for (const Drawn& d : batch) {
        double window = 1;
        for (std::size_t i = 0; i < 3; ++i) {
          const auto begin = std::max<std::int64_t>(0, d.geometry.window.origin_zyx[i]);
          const auto end = std::min<std::int64_t>(
              kLevel, d.geometry.window.origin_zyx[i] + d.geometry.window.size_zyx[i]);
          window *= static_cast<double>(std::max<std::int64_t>(0, end - begin));
        }
        voxels += window;
      }
    }
    return 3 * voxels / static_cast<double>(kDrawn) + 3.0 * static_cast<double>(kBatch * kVoxels);
  }
  Batch draw(const VolumeGraph& graph, std::uint64_t batch) const {
    Batch drawn(kBatch);
    for (std::size_t i = 0; i < kBatch; ++i) {
      drawn[i].params = graph.draw({303, 0, batch * kBatch + i}, {}, true);
      const std::uint64_t place = (batch % kDrawn * kBatch + i) * 2654435761u;
      std::array<double, 3> centre{};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        centre[axis] = 112.3 + static_cast<double>((place >> (8 * axis)) % (kLevel - 224));
      }
      graph.locate(*drawn[i].params, centre, {1, 1, 1}, drawn[i].geometry);
    }
    return drawn;
  }
  template <typename T>
  VolumeView<T> view(const T* level, const Box3& window) const {
    VolumeView<T> v;
    v.row_stride = kLevel;
    v.slice_stride = std::int64_t{kLevel} * kLevel;
    v.data = level + (window.origin_zyx[0] * v.slice_stride + window.origin_zyx[1] * v.row_stride +
                      window.origin_zyx[2]);
    for (std::size_t i = 0; i < 3; ++i) v.shape_zyx[i] = std::int32_t(window.size_zyx[i]);
    return v;
  }
  static Box3 extent(const Box3& window) {
    Box3 e;
    for (std::size_t i = 0; i < 3; ++i) {
      e.origin_zyx[i] = -window.origin_zyx[i];
      e.size_zyx[i] = kLevel;
    }
    return e;
  }
  void start(const VolumeGraph& graph, const Batch& batch) {
    std::vector<VolumePatch> patches;
    for (const Drawn& d : batch) {
      const Box3& w = d.geometry.window;
      patches.push_back({d.params.get(), &d.geometry, view(hu_there_.as<const std::int16_t>(), w),
                         view(label_there_.as<const std::uint8_t>(), w), extent(w)});
    }
    VolumeCudaGraph{graph}.run(patches, 255, Element::bfloat16, out_.as<std::byte>(),
                               labels_out_.as<std::uint8_t>(), scratch_, stream_);
  }
  bool same_bytes(const VolumeGraph& graph, const Batch& batch) {
    std::vector<std::uint16_t> gpu(kBatch * kVoxels), cpu(kVoxels);
    std::vector<std::uint8_t> gpu_labels(kBatch * kVoxels), cpu_labels(kVoxels);
    std::vector<float> values(kVoxels);
    start(graph, batch);
    copy_to_host(gpu.data(), out_.as<std::byte>(), 2 * gpu.size(), stream_);
    copy_to_host(gpu_labels.data(), labels_out_.as<std::byte>(), gpu_labels.size(), stream_);
    stream_.wait();
    for (std::size_t i = 0; i < kBatch; ++i) {
      const Box3& w = batch[i].geometry.window;
      graph.run(*batch[i].params, batch[i].geometry, view(hu_.data(), w), view(label_.data(), w),
                extent(w), 255, values.data(), cpu_labels.data(), host_scratch_);
      convert(values.data(), {cpu.data(), {Element::bfloat16, {}}, 1, std::int64_t{kVoxels}});
      if (std::memcmp(gpu.data() + i * kVoxels, cpu.data(), 2 * kVoxels) != 0) return false;
      if (std::memcmp(gpu_labels.data() + i * kVoxels, cpu_labels.data(), kVoxels) != 0)
        return false;
    }
    return true;
  }
  template <typename Work>
  double seconds(const Work& work, std::size_t batches) {
    stream_.wait();
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t k = 0; k < batches; ++k) work(k);
    stream_.wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  static constexpr std::size_t kLevelVoxels = std::size_t{kLevel} * kLevel * kLevel;
  std::vector<std::int16_t> hu_ = std::vector<std::int16_t>(kLevelVoxels + 64);
  std::vector<std::uint8_t> label_ = std::vector<std::uint8_t>(kLevelVoxels + 64);
  Stream stream_;
  DeviceBuffer hu_there_{2 * kLevelVoxels}, label_there_{kLevelVoxels};
  DeviceBuffer out_{2 * kBatch * kVoxels}, labels_out_{kBatch * kVoxels};
  VolumeCudaScratch scratch_;
  VolumeScratch host_scratch_;
  double copy_bandwidth_ = 0;
  std::string goals_;
};

}  // namespace

int headrace::device_bench::volumes(int argc, char** argv) {
  const int batches = argc > 1 ? std::max(1, std::atoi(argv[1])) : 400;
  const int repeats = argc > 2 ? std::max(1, std::atoi(argv[2])) : 9;
  fmt::print(
      "{}; {} batches of {} patches of 128³ voxels with labels, bfloat16 out, {} repeats, one "
      "stream, one host thread; medians\n\n"
      "| chain | ms a batch | Gvoxel/s | ms a batch with draw and locate | GB/s | of a copy's | "
      "of "
      "4.8 TB/s |\n|---|---|---|---|---|---|---|\n",
      device::cuda::describe(), batches, kBatch, repeats);
  Bench gpu;
  bool same = true;
  for (const Case& c : cases()) {
    same = gpu.row(c, static_cast<std::size_t>(batches), repeats) && same;
  }
  fmt::print("\n{}\n\n{}", bandwidth_note(gpu.copy_bandwidth()), gpu.goals());
  return same ? 0 : 1;
}
