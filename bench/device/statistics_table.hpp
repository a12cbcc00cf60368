#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/ingest/volume/device_volume.hpp"
#include "headrace/math/philox.hpp"
#include "headrace/pixels/stain/stain_estimate.hpp"
#include "headrace/pixels/tissue/tissue_mask.hpp"

/// Each statistic on a GPU beside one thread of the CPU; a statistic with another result than the
/// CPU's is not timed. Darkest channels and stains are summed over an image in the GPU's memory;
/// tissue, body and histograms begin and end in the host's memory, as in ingest, so copies both
/// ways are counted.
namespace headrace::bench {

using pixels::StatisticsDevice;
using pixels::StatisticsWorkspace;

inline std::uint32_t draw(std::uint32_t i) {
  return math::philox4x32_10(math::Philox4Of<std::uint32_t>{{i, 0, 0, 0}}, 5, 7).v[0];
}

/// Two thirds glass, in which many pixels fall into few bins, and stained tissue.
inline pixels::Image8 slide(std::int64_t height, std::int64_t width) {
  pixels::Image8 image(height, width, 3);
  const std::uint8_t tissue[3] = {165, 95, 160};
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    const std::size_t pixel = i / 3;
    const bool glass =
        pixel / 400 % 3 != 0 || pixel / static_cast<std::size_t>(width) / 300 % 4 == 0;
    image.pixels[i] = glass ? 243 : static_cast<std::uint8_t>(tissue[i % 3] + draw(i) % 70);
  }
  return image;
}

inline double median_ms(int repeats, const std::function<void()>& work) {
  std::vector<double> ms;
  for (int i = 0; i < repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
                     .count());
  }
  std::sort(ms.begin(), ms.end());
  return ms[ms.size() / 2];
}

class Table {
 public:
  Table(pixels::StatisticsDevice& device, int repeats) : device_(device), repeats_(repeats) {
    fmt::print(
        "{}; statistics beside one thread of the CPU, {} repeats, medians\n\n"
        "| statistic | data | from | CPU ms | device ms |\n|---|---|---|---|---|\n",
        device.name(), repeats);
  }
  bool same() const { return same_; }

  void images(std::int64_t edge) {
    const pixels::Image8 image = slide(edge, edge);
    pixels::StatisticsWorkspace workspace(device_);
    auto* there = workspace.area<std::uint8_t>(0, 3 * edge * edge);
    workspace.send(there, image.pixels.data(), 3 * edge * edge);
    const pixels::RgbView view{there, 3 * edge};

    std::array<std::uint64_t, 256> cpu{}, gpu{};
    auto* counts = workspace.area<std::uint64_t>(1, 256);
    row(
        "darkest channels", edge,
        [&] {
          cpu = {};
          pixels::count_darkest(image.pixels.data(), edge * edge, cpu);
        },
        [&] {
          workspace.cleared<std::uint64_t>(1, 256);
          workspace.gather(
              pixels::DarkestCount{view, edge, static_cast<std::int32_t>(edge), counts});
          workspace.fetch(gpu.data(), counts, 256);
        },
        [&] { return cpu == gpu; }, "GPU memory");

    pixels::StainAccumulator on_cpu, on_gpu;
    const std::int64_t blocks = edge / 256 * (edge / 256);
    std::vector<std::uint64_t> sums(static_cast<std::size_t>(pixels::kStainTotals));
    auto* totals = workspace.area<std::uint64_t>(2, pixels::kStainTotals);
    row(
        "stain sums", edge,
        [&] {
          on_cpu = pixels::StainAccumulator();
          on_cpu.add(image.pixels.data(), edge * edge);
        },
        [&] {
          workspace.cleared<std::uint64_t>(2, pixels::kStainTotals);
          workspace.gather(pixels::StainSums{view,
                                             edge,
                                             edge,
                                             0,
                                             0,
                                             {},
                                             blocks,
                                             edge / 256,
                                             blocks,
                                             256,
                                             totals,
                                             pixels::stain_rule(on_gpu.variant())});
          workspace.fetch(sums.data(), totals, pixels::kStainTotals);
          on_gpu = pixels::StainAccumulator();
          on_gpu.add_totals(sums);
        },
        [&] {
          const auto a = on_cpu.estimate(), b = on_gpu.estimate();
          return a && b && a->stain_od_rgb_he == b->stain_od_rgb_he &&
                 a->max_concentration == b->max_concentration &&
                 on_cpu.moments().product == on_gpu.moments().product;
        },
        "GPU memory");
  }

  void tissue(std::int64_t edge) {
    const pixels::Image8 image = slide(edge, edge);
    pixels::StatisticsWorkspaces workspaces(device_, 1);
    pixels::TissueMask cpu, gpu;
    row(
        "tissue mask", edge, [&] { cpu = pixels::find_tissue(image); },
        [&] { gpu = pixels::find_tissue(image, &workspaces); },
        [&] { return cpu.mask.pixels == gpu.mask.pixels && cpu.pen_fraction == gpu.pen_fraction; },
        "host memory");
  }

  void volume(std::int64_t depth, std::int64_t edge) {
    const std::array<std::int64_t, 3> shape{depth, edge, edge};
    const std::array<double, 3> spacing{1.5, 0.8, 0.8};
    std::vector<std::int16_t> hu(static_cast<std::size_t>(depth * edge * edge));
    for (std::size_t i = 0; i < hu.size(); ++i) {
      const auto x = static_cast<std::int64_t>(i) % edge - edge / 2,
                 y = static_cast<std::int64_t>(i) / edge % edge - edge / 2;
      const bool body = 5 * (x * x + y * y) < edge * edge;
      hu[i] = static_cast<std::int16_t>((body ? 20 : -1000) + static_cast<int>(draw(i) % 200));
    }
    ThreadPool pool(1);
    pixels::StatisticsWorkspaces workspaces(device_, 1);
    ingest::DeviceVolume there(hu.data(), shape, workspaces, pool);
    pixels::BitVolume cpu(shape), gpu(shape);
    row(
        "body mask", edge,
        [&] {
          pixels::BitVolume above(shape);
          for (std::int64_t z = 0; z < depth; ++z) {
            pixels::threshold_slice(hu.data() + z * edge * edge, ingest::kBodyThresholdHu, z,
                                    above);
          }
          cpu = ingest::body_mask(std::move(above), spacing);
        },
        [&] { gpu = ingest::body_mask(there, spacing); }, [&] { return cpu == gpu; }, "host memory",
        depth);
    ingest::IntensityHistogram on_cpu, on_gpu, none;
    row(
        "histogram of a body", edge,
        [&] {
          on_cpu = ingest::IntensityHistogram();
          for (std::int64_t z = 0; z < depth; ++z)
            on_cpu.add_slice(hu.data() + z * edge * edge, z, cpu);
        },
        [&] {
          on_gpu = ingest::IntensityHistogram();
          there.count(cpu, nullptr, on_gpu, none);
        },
        [&] { return on_cpu.summary() == on_gpu.summary(); }, "host memory", depth);
  }

 private:
  void row(const char* name, std::int64_t edge, const std::function<void()>& cpu,
           const std::function<void()>& gpu, const std::function<bool()>& same, const char* from,
           std::int64_t depth = 0) {
    const std::string data = depth == 0 ? fmt::format("{0}x{0} RGB", edge)
                                        : fmt::format("{1}x{0}x{0} int16", edge, depth);
    cpu();
    gpu();
    if (!same()) {
      same_ = false;
      fmt::print("| {} | {} | differs from the CPU, not timed | | |\n", name, data);
      return;
    }
    fmt::print("| {} | {} | {} | {:.2f} | {:.2f} |\n", name, data, from, median_ms(repeats_, cpu),
               median_ms(repeats_, gpu));
    std::fflush(stdout);
  }

  pixels::StatisticsDevice& device_;
  int repeats_;
  bool same_ = true;
};

}  // namespace headrace::bench
