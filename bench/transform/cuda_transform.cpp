// Times the fused transform on a GPU: batches of 64 patches of 512×512, all over a level in device
// memory that no cache holds, into tensors there, float32 NCHW and bfloat16 NHWC, one stream, one
// host thread. A chain is timed only if its bytes are the CPU's. A Markdown table on stdout, with
// the part of the memory's bandwidth and the goal.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "bench/device/bandwidth.hpp"
#include "bench/device/commands.hpp"
#include "bench/transform/work.hpp"
#include "headrace/transform/slide/slide_cuda_graph.hpp"

namespace {

using namespace headrace;
using namespace headrace::transform;
using device::cuda::DeviceBuffer;
using device::cuda::Stream;

constexpr std::int64_t kLevel = 8192;  // 201 MB: more than any cache of a GPU
constexpr double kGoal = 150'000;      // patches/s of the whole chain, bfloat16 out
constexpr std::int32_t kSize = 512;
constexpr std::size_t kValues = 3u * kSize * kSize, kDrawn = 8, kBatch = 64;
constexpr TensorFormat kFloat32{}, kBfloat16{Element::bfloat16, Layout::channels_last};

struct Drawn {
  std::shared_ptr<const SampleParams> params;
  PatchGeometry geometry;
};
using Batch = std::vector<Drawn>;

class Bench {
 public:
  Bench() {
    copy_to_device(level_.as<std::uint8_t>(), host_level_.data(), host_level_.size(), stream_);
    stream_.wait();
    copy_bandwidth_ = device_bench::copy_bandwidth(stream_);
  }

  double copy_bandwidth() const { return copy_bandwidth_; }
  double whole_chain() const { return whole_chain_; }  ///< patches/s, bfloat16; 0 if not timed

  /// One row of the table; false if the bytes are not the CPU's.
  bool row(const bench::Case& c, std::size_t batches, int repeats) {
    const Graph graph = Graph::compile(c.specs, {kSize, kSize, 0.5, {1}});
    std::vector<Batch> drawn;
    for (std::size_t i = 0; i < kDrawn; ++i) drawn.push_back(draw(graph, i));
    if (!same_bytes(graph, drawn.front(), kFloat32) || !same_bytes(graph, drawn[1], kBfloat16)) {
      fmt::print("| {} | differs from the CPU, not timed | | | | | | |\n", c.op);
      return false;
    }
    std::vector<double> full, half, whole;
    for (int i = 0; i < repeats; ++i) {
      const auto run = [&](const TensorFormat& format) {
        return seconds([&](std::size_t k) { start(graph, drawn[k % kDrawn], format); }, batches);
      };
      full.push_back(run(kFloat32));
      half.push_back(run(kBfloat16));
    }
    // Few of them: the host draws for longer than the GPU computes.
    const std::size_t few = std::max<std::size_t>(4, batches / 16);
    for (int i = 0; i < 3; ++i) {
      whole.push_back(
          seconds([&](std::size_t k) { start(graph, draw(graph, k), kBfloat16); }, few));
    }
    const auto rate = [&](std::vector<double>& times, std::size_t count) {
      std::sort(times.begin(), times.end());
      return static_cast<double>(count * kBatch) / times[times.size() / 2];
    };
    const double bfloat16 = rate(half, batches), moved = bytes_of_patch(drawn) * bfloat16;
    if (std::string_view(c.op) == "whole") whole_chain_ = bfloat16;
    fmt::print("| {} | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {} |\n", c.op, rate(full, batches),
               bfloat16, static_cast<double>(batches * kBatch) / half.front(), rate(whole, few),
               device_bench::bandwidth_cells(moved, copy_bandwidth_));
    std::fflush(stdout);
    return true;
  }

 private:
  Batch draw(const Graph& graph, std::uint64_t batch) const {
    Batch drawn(kBatch);
    for (std::size_t i = 0; i < kBatch; ++i) {
      drawn[i].params = graph.draw({303, 0, batch * kBatch + i}, colour_, true);
      // A walk over the level that visits no place twice in a batch; windows stay inside.
      const std::uint64_t place = (batch % kDrawn * kBatch + i) * 2654435761u;
      const double y = 640.25 + static_cast<double>(place / 4096 % (kLevel - 1280));
      const double x = 640.5 + static_cast<double>(place % (kLevel - 1280));
      graph.locate(*drawn[i].params, 1, {y, x}, {0.5, 0.5}, drawn[i].geometry);
    }
    return drawn;
  }
  /// Bytes that a patch must move: the pixels its gather may touch, and its bfloat16 result.
  static double bytes_of_patch(const std::vector<Batch>& drawn) {
    double pixels = 0;
    for (const Batch& batch : drawn) {
      for (const Drawn& d : batch) {
        for (const auto& span : d.geometry.row_spans) pixels += std::max(0, span[1] - span[0]);
      }
    }
    return 3 * pixels / static_cast<double>(kDrawn * kBatch) + 2.0 * kValues;
  }
  ImageView view(const std::uint8_t* level, const Box2& w) const {
    return {level + (w.y0 * kLevel + w.x0) * 3, static_cast<std::int32_t>(w.height),
            static_cast<std::int32_t>(w.width), kLevel * 3};
  }
  void start(const Graph& graph, const Batch& batch, const TensorFormat& format) {
    std::vector<CudaPatch> patches;
    for (const Drawn& d : batch) {
      const Box2& w = d.geometry.window;
      patches.push_back({d.params.get(),
                         &d.geometry,
                         view(level_.as<std::uint8_t>(), w),
                         {0, 0, w.height, w.width}});
    }
    CudaGraph{graph}.images(patches, format, out_.as<float>(), scratch_, stream_);
  }
  bool same_bytes(const Graph& graph, const Batch& batch, const TensorFormat& format) {
    const std::size_t bytes = kValues * bytes_of(format.element);
    std::vector<std::byte> gpu(kBatch * bytes), cpu(bytes);
    std::vector<float> planes(kValues);
    start(graph, batch, format);
    copy_to_host(gpu.data(), out_.as<float>(), gpu.size(), stream_);
    stream_.wait();
    for (std::size_t k = 0; k < kBatch; ++k) {
      const Box2& w = batch[k].geometry.window;
      graph.image(*batch[k].params, batch[k].geometry, view(host_level_.data(), w),
                  {0, 0, w.height, w.width}, planes.data(), host_scratch_);
      convert(planes.data(), {cpu.data(), format, 3, std::int64_t{kSize} * kSize});
      if (std::memcmp(gpu.data() + k * bytes, cpu.data(), bytes) != 0) return false;
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

  std::vector<std::uint8_t> host_level_ = bench::tissue(kLevel);
  ImageColour colour_ = bench::colour_of(bench::tissue(2048));
  Stream stream_;
  DeviceBuffer level_{host_level_.size()}, out_{kBatch * kValues * sizeof(float)};
  CudaScratch scratch_;
  Scratch host_scratch_;
  double copy_bandwidth_ = 0, whole_chain_ = 0;
};

}  // namespace

int headrace::device_bench::transforms(int argc, char** argv) {
  const int batches = argc > 1 ? std::max(1, std::atoi(argv[1])) : 400;
  const int repeats = argc > 2 ? std::max(1, std::atoi(argv[2])) : 9;
  fmt::print(
      "{}; {} batches of {} patches of 512×512 RGB, {} repeats, one stream, one host thread; "
      "patches/s, median unless it says best\n\n",
      device::cuda::describe(), batches, kBatch, repeats);
  fmt::print(
      "| chain | float32 NCHW | bfloat16 NHWC | best | bfloat16 with draw and locate | GB/s | of "
      "a "
      "copy's | of 4.8 TB/s |\n|---|---|---|---|---|---|---|---|\n");
  Bench gpu;
  bool same = true;
  for (const bench::Case& c : bench::cases()) {
    same = gpu.row(c, static_cast<std::size_t>(batches), repeats) && same;
  }
  const double rate = gpu.whole_chain();
  fmt::print(
      "\n{}\n\n{}", bandwidth_note(gpu.copy_bandwidth()),
      against(fmt::format("{:.0f} patches/s, `whole` with Macenko and elastic, bfloat16", kGoal),
              rate > 0 ? fmt::format("{:.0f} patches/s", rate) : "not timed", rate >= kGoal));
  return same ? 0 : 1;
}
