// Times the 3-D transform on one thread, op by op and as a whole, at each instruction-set level of
// this CPU, and the resampling of a whole CT. One JSON line a measurement on stdout; `cpu_ms` is
// thread CPU time, best and median of the repeats.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "headrace/core/error.hpp"
#include "headrace/device/cpu_isa.hpp"
#include "headrace/transform/volume/volume_graph.hpp"
#include "headrace/transform/volume/volume_spec.hpp"

namespace {

using namespace headrace;
using namespace headrace::transform;

double thread_cpu_ms() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

/// A CT-like level; the work does not depend on its values.
struct Level {
  std::array<std::int32_t, 3> shape;
  std::vector<std::int16_t> hu;
  std::vector<std::uint8_t> label;

  explicit Level(std::array<std::int32_t, 3> size) : shape(size) {
    const std::size_t slice = std::size_t(shape[1]) * std::size_t(shape[2]);
    hu.resize(slice * std::size_t(shape[0]) + 64);
    label.resize(hu.size());
    std::uint32_t state = 1;
    for (std::size_t i = 0; i < hu.size(); ++i) {
      state = state * 1664525u + 1013904223u;
      hu[i] = static_cast<std::int16_t>(static_cast<int>(i / 96 % 400) - 160 + int(state >> 27));
      label[i] = static_cast<std::uint8_t>(i / slice / 8 % 3);
    }
  }
  template <typename T>
  VolumeView<T> view(const std::vector<T>& voxels, const Box3& window) const {
    VolumeView<T> v;
    v.row_stride = shape[2];
    v.slice_stride = std::int64_t{shape[1]} * shape[2];
    v.data = voxels.data() + (window.origin_zyx[0] * v.slice_stride +
                              window.origin_zyx[1] * v.row_stride + window.origin_zyx[2]);
    for (std::size_t i = 0; i < 3; ++i) v.shape_zyx[i] = std::int32_t(window.size_zyx[i]);
    return v;
  }
  Box3 extent(const Box3& window) const {
    Box3 e;
    for (std::size_t i = 0; i < 3; ++i) {
      e.origin_zyx[i] = -window.origin_zyx[i];
      e.size_zyx[i] = shape[i];
    }
    return e;
  }
};

struct Case {
  const char* op;
  std::vector<VolumeTransformSpec> specs;
};

/// As the peers' chain: rotation of 15 degrees about each axis, scale 0.9 to 1.1, a deformation of
/// a few voxels, noise of 0.05, brightness and contrast of 0.8 to 1.2, gamma of 0.7 to 1.5 that
/// keeps mean and standard deviation, flips; each to every patch.
std::vector<Case> cases() {
  VolumeAffineSpec affine, flip, all;
  affine.rotate_deg = {-15, 15};
  affine.scale = {0.9, 1.1};
  flip.flip = true;
  all = affine;
  all.flip = true;
  const VolumeElasticSpec elastic{7, 8, 1};  // control values of ± 8: about 2.5 mm rms
  const WindowHuSpec window{-160, 240};
  const VolumeNoiseSpec noise{{0.05, 0.05}, 1};
  const VolumeBrightnessSpec bright{{0.8, 1.2}, 1, true};
  const VolumeContrastSpec contrast{{0.8, 1.2}, 1, true, true};
  const VolumeGammaSpec gamma{{0.7, 1.5}, 1, false, true, true};
  const VolumeBlurSpec blur{{1, 1}, 1};
  const LowResolutionSpec low{{0.6, 0.6}, 1};
  return {{"copy", {}},
          {"window", {window}},
          {"affine", {window, affine}},
          {"elastic", {window, elastic}},
          {"affine+elastic", {window, affine, elastic}},
          {"noise", {window, noise}},
          {"gamma", {window, gamma}},
          {"bright", {window, bright, contrast}},
          {"flip", {window, flip}},
          {"blur-sigma-1", {window, blur}},
          {"low-resolution", {window, low}},
          {"whole-noelastic", {window, all, noise, bright, contrast, gamma}},
          {"whole", {window, all, elastic, noise, bright, contrast, gamma}}};
}

void report(const char* work, const char* op, const char* what, std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  fmt::print(
      "{{\"work\": \"{}\", \"subject\": \"headrace\", \"op\": \"{}\", \"isa\": \"{}\", \"items\": "
      "\"{}\", \"repeats\": {}, \"cpu_ms_best\": {:.3f}, \"cpu_ms_median\": {:.3f}}}\n",
      work, op, device::name_of(device::cpu_isa()), what, ms.size(), ms.front(), ms[ms.size() / 2]);
  std::fflush(stdout);
}

/// Draw, locate, and gather image and labels: the whole cost of a patch once its window is in
/// memory.
class Patches {
 public:
  void time_case(const Case& c, int repeats) {
    const VolumeGraph graph = VolumeGraph::compile(c.specs, {{96, 96, 96}, {1, 1, 1}});
    std::vector<double> ms;
    for (int i = -1; i < repeats; ++i) {
      const double begin = thread_cpu_ms();
      const auto params = graph.draw({303, 0, static_cast<std::uint64_t>(i + 1)}, {}, true);
      graph.locate(*params, {88.3, 88.1, 88.4}, {1, 1, 1}, geometry_);
      const Box3& w = geometry_.window;
      graph.run(*params, geometry_, level_.view(level_.hu, w), level_.view(level_.label, w),
                level_.extent(w), 255, out_.data(), labels_.data(), scratch_);
      if (i >= 0) ms.push_back(thread_cpu_ms() - begin);
    }
    report("W5", c.op, "96x96x96 and labels", ms);
  }
  void time_plan(int repeats) {
    const VolumeGraph graph = VolumeGraph::compile(cases().back().specs, {{96, 96, 96}, {1, 1, 1}});
    std::vector<double> ms;
    for (int i = 0; i < repeats; ++i) {
      const double begin = thread_cpu_ms();
      const auto params = graph.draw({303, 0, static_cast<std::uint64_t>(i)}, {}, true);
      graph.locate(*params, {88.3, 88.1, 88.4}, {1, 1, 1}, geometry_);
      ms.push_back(thread_cpu_ms() - begin);
    }
    report("W5", "draw+locate", "96x96x96", ms);
  }

 private:
  Level level_{{176, 176, 176}};
  VolumeScratch scratch_;
  VolumeGeometry geometry_;
  std::vector<float> out_ = std::vector<float>(96 * 96 * 96);
  std::vector<std::uint8_t> labels_ = std::vector<std::uint8_t>(96 * 96 * 96);
};

/// 200 × 512 × 512 voxels of 2.5 × 0.8 × 0.8 mm to 1.5 mm, in bands of slices; `spacing_yx`: of the
/// level, so that the smoothing can be left out.
void time_resampling(const Level& level, const char* op, double spacing_yx, int repeats) {
  constexpr std::int32_t kBand = 32;
  const std::array<double, 3> spacing{2.5, spacing_yx, spacing_yx};
  const double target = 1.5 * spacing_yx / 0.8;
  VolumePatchSpec patch{{kBand, 410, 410}, {1.5, target, target}};
  const VolumeGraph graph = VolumeGraph::compile({}, patch);
  std::vector<float> out(std::size_t(kBand) * 410 * 410);
  VolumeScratch scratch;
  VolumeGeometry geometry;
  std::vector<double> ms;
  for (int i = -1; i < repeats; ++i) {
    const double begin = thread_cpu_ms();
    for (int z = 0; z < 334; z += kBand) {
      const auto params = graph.draw({}, {}, false);
      graph.locate(*params, {(z + kBand / 2.0) * 0.6, 205 * 1.875, 205 * 1.875}, spacing, geometry);
      const Box3& w = geometry.window;
      graph.run(*params, geometry, level.view(level.hu, w), {}, level.extent(w), 0, out.data(),
                nullptr, scratch);
    }
    if (i >= 0) ms.push_back(thread_cpu_ms() - begin);
  }
  report("W7", op, "200x512x512 to 334x410x410", ms);
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::max(1, std::atoi(argv[1])) : 20;
  const std::string only = argc > 2 ? argv[2] : "";
  const Level ct({200, 512, 512});
  Patches patches;
  for (const char* isa : {"v1", "v2", "v3", "v4"}) {
    try {
      device::force_cpu_isa(isa);
    } catch (const Error&) {
      continue;  // this CPU lacks it
    }
    for (const Case& c : cases()) {
      if (only.empty() || only == c.op) patches.time_case(c, repeats);
    }
    if (only.empty() || only == "resample") {
      time_resampling(ct, "resample", 0.8, std::max(1, repeats / 4));
    }
  }
  if (only.empty()) patches.time_plan(repeats);
}
