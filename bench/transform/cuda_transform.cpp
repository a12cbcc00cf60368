// Times the fused transform on a GPU: 512×512 patches from a level in device memory into float32
// tensors there, one stream, one host thread. A chain is timed only if its bytes are the CPU's. A
// Markdown table on stdout; without a GPU one line that says so.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bench/transform/work.hpp"
#include "headrace/transform/cuda_graph.hpp"

namespace {

using namespace headrace;
using namespace headrace::transform;
using device::cuda::DeviceBuffer;
using device::cuda::Stream;

constexpr std::int64_t kLevel = 2048;
constexpr std::int32_t kSize = 512;
constexpr std::size_t kValues = 3u * kSize * kSize, kDrawn = 256, kBatch = 64;

struct Drawn {
  std::shared_ptr<const SampleParams> params;
  PatchGeometry geometry;
};

class Bench {
 public:
  Bench() {
    copy_to_device(level_.as<std::uint8_t>(), host_level_.data(), host_level_.size(), stream_);
  }

  /// One row of the table; false if the bytes are not the CPU's.
  bool row(const bench::Case& c, std::size_t patches, int repeats) {
    const Graph graph = Graph::compile(c.specs, {kSize, kSize, 0.5, {1}});
    std::vector<Drawn> drawn(kDrawn);
    for (std::size_t i = 0; i < kDrawn; ++i) drawn[i] = draw(graph, i);
    if (!same_bytes(graph, drawn)) {
      fmt::print("| {} | differs from the CPU, not timed | | |\n", c.op);
      return false;
    }
    std::vector<double> ready, whole;
    for (int i = 0; i < repeats; ++i) {
      ready.push_back(seconds([&](std::size_t k) { start(graph, drawn[k % kDrawn], k); }, patches));
      whole.push_back(seconds([&](std::size_t k) { start(graph, draw(graph, k), k); }, patches));
    }
    std::sort(ready.begin(), ready.end());
    std::sort(whole.begin(), whole.end());
    const auto n = static_cast<double>(patches);
    const std::size_t middle = ready.size() / 2;
    fmt::print("| {} | {:.0f} | {:.0f} | {:.0f} |\n", c.op, n / ready[middle], n / ready.front(),
               n / whole[middle]);
    std::fflush(stdout);
    return true;
  }

 private:
  Drawn draw(const Graph& graph, std::uint64_t index) const {
    Drawn d;
    d.params = graph.draw({303, 0, index}, colour_, true);
    graph.locate(*d.params, 1, {1024.25, 1024.5}, {0.5, 0.5}, d.geometry);
    return d;
  }
  ImageView view(const std::uint8_t* level, const Box2& w) const {
    return {level + (w.y0 * kLevel + w.x0) * 3, static_cast<std::int32_t>(w.height),
            static_cast<std::int32_t>(w.width), kLevel * 3};
  }
  void start(const Graph& graph, const Drawn& d, std::size_t k) {
    const Box2& w = d.geometry.window;
    CudaGraph{graph}.image(*d.params, d.geometry, view(level_.as<std::uint8_t>(), w),
                           {0, 0, w.height, w.width}, out_.as<float>() + k % kBatch * kValues,
                           scratch_, stream_);
  }
  bool same_bytes(const Graph& graph, const std::vector<Drawn>& drawn) {
    std::vector<float> gpu(kBatch * kValues), cpu(kValues);
    for (std::size_t k = 0; k < kBatch; ++k) start(graph, drawn[k], k);
    copy_to_host(gpu.data(), out_.as<float>(), gpu.size() * sizeof(float), stream_);
    stream_.wait();
    for (std::size_t k = 0; k < kBatch; ++k) {
      const Box2& w = drawn[k].geometry.window;
      graph.image(*drawn[k].params, drawn[k].geometry, view(host_level_.data(), w),
                  {0, 0, w.height, w.width}, cpu.data(), host_scratch_);
      if (std::memcmp(gpu.data() + k * kValues, cpu.data(), kValues * sizeof(float)) != 0) {
        return false;
      }
    }
    return true;
  }
  template <typename Work>
  double seconds(const Work& work, std::size_t patches) {
    stream_.wait();
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t k = 0; k < patches; ++k) work(k);
    stream_.wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  std::vector<std::uint8_t> host_level_ = bench::tissue(kLevel);
  ImageColour colour_ = bench::colour_of(host_level_);
  Stream stream_;
  DeviceBuffer level_{host_level_.size()}, out_{kBatch * kValues * sizeof(float)};
  CudaScratch scratch_;
  Scratch host_scratch_;
};

}  // namespace

int main(int argc, char** argv) {
  const int patches = argc > 1 ? std::max(1, std::atoi(argv[1])) : 20000;
  const int repeats = argc > 2 ? std::max(1, std::atoi(argv[2])) : 9;
  try {
    if (!device::cuda::cuda_available()) {
      fmt::print("not measured: {}\n", device::cuda::describe());
      return 0;
    }
    fmt::print(
        "{}; {} patches of 512×512 RGB to float32, {} repeats, one stream, one host thread\n\n",
        device::cuda::describe(), patches, repeats);
    fmt::print(
        "| chain | patches/s, median | best | with draw and locate, median |\n|---|---|---|---|\n");
    Bench gpu;
    bool same = true;
    for (const bench::Case& c : bench::cases()) {
      same = gpu.row(c, static_cast<std::size_t>(patches), repeats) && same;
    }
    return same ? 0 : 1;
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return exit_code(error.code());
  }
}
