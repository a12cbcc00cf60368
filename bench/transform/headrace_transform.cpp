// Times the fused transform on one thread, op by op and as a whole, at each instruction-set level
// of this CPU. One JSON line a measurement on stdout; `cpu_ms` is thread CPU time a patch, best and
// median of the repeats.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "bench/transform/work.hpp"
#include "headrace/core/error.hpp"
#include "headrace/device/cpu_isa.hpp"
#include "headrace/pixels/stain/stain_estimate.hpp"
#include "headrace/transform/slide/slide_graph.hpp"

namespace {

using namespace headrace;
using namespace headrace::transform;
using bench::Case;
using bench::cases;
using bench::colour_of;
using bench::tissue;

double thread_cpu_ms() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

struct Bench {
  static constexpr int kSize = 512;
  std::int64_t level_size = 2048;
  std::vector<std::uint8_t> level = tissue(2048);
  ImageColour colour = colour_of(level);
  Scratch scratch;
  PatchGeometry geometry;
  std::vector<float> out = std::vector<float>(3 * kSize * kSize);

  /// Draw, locate and gather: the whole cost of a patch once its window is in memory.
  void patch(const Graph& graph, std::uint64_t index) {
    const auto params = graph.draw({303, 0, index}, colour, true);
    graph.locate(*params, 1, {1024.25, 1024.5}, {0.5, 0.5}, geometry);
    const Box2& w = geometry.window;
    const ImageView view{level.data() + (w.y0 * level_size + w.x0) * 3,
                         static_cast<std::int32_t>(w.height), static_cast<std::int32_t>(w.width),
                         level_size * 3};
    graph.image(*params, geometry, view, {0, 0, w.height, w.width}, out.data(), scratch);
  }

  void time_case(const Case& c, int repeats) {
    const Graph graph = Graph::compile(c.specs, {kSize, kSize, 0.5, {1}});
    patch(graph, 0);
    std::vector<double> ms;
    for (int i = 0; i < repeats; ++i) {
      const double begin = thread_cpu_ms();
      patch(graph, static_cast<std::uint64_t>(i));
      ms.push_back(thread_cpu_ms() - begin);
    }
    std::sort(ms.begin(), ms.end());
    fmt::print(
        "{{\"work\": \"W3\", \"subject\": \"headrace\", \"op\": \"{}\", \"isa\": \"{}\", "
        "\"patch\": \"512x512 RGB\", "
        "\"repeats\": {}, \"cpu_ms_best\": {:.3f}, \"cpu_ms_median\": {:.3f}}}\n",
        c.op, device::name_of(device::cpu_isa()), repeats, ms.front(), ms[ms.size() / 2]);
    std::fflush(stdout);
  }

  void time_plan(int repeats) {
    const Graph graph = Graph::compile(cases().back().specs, {kSize, kSize, 0.5, {1}});
    const double begin = thread_cpu_ms();
    for (int i = 0; i < repeats; ++i) {
      const auto params = graph.draw({303, 0, static_cast<std::uint64_t>(i)}, colour, true);
      graph.locate(*params, 1, {1024.25, 1024.5}, {0.5, 0.5}, geometry);
    }
    fmt::print(
        "{{\"work\": \"W3\", \"subject\": \"headrace\", \"op\": \"draw+locate\", \"cpu_ms\": "
        "{:.4f}}}\n",
        (thread_cpu_ms() - begin) / repeats);
  }

  void time_stain() {
    const std::vector<std::uint8_t> slide = tissue(2560);
    const double begin = thread_cpu_ms();
    pixels::StainAccumulator stains;
    stains.add(slide.data(), 2560 * 2560);
    const bool found = stains.estimate().has_value();
    fmt::print(
        "{{\"work\": \"W7\", \"subject\": \"headrace\", \"op\": \"macenko\", \"pixels\": "
        "\"2560x2560\", "
        "\"found\": {}, \"cpu_ms\": {:.2f}}}\n",
        found, thread_cpu_ms() - begin);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::max(1, std::atoi(argv[1])) : 50;
  const std::string only = argc > 2 ? argv[2] : "";
  Bench bench;
  for (const char* isa : {"v1", "v2", "v3", "v4"}) {
    try {
      device::force_cpu_isa(isa);
    } catch (const Error&) {
      continue;  // this CPU lacks it
    }
    for (const Case& c : cases()) {
      if (only.empty() || only == c.op) bench.time_case(c, repeats);
    }
  }
  bench.time_plan(200);
  bench.time_stain();
}
