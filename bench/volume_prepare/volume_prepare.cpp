// The cost of preparing a CT on one thread, for bench/volume_resample and bench/volume_body_mask:
//
//   bench_volume_prepare resample|body_mask CT.npy OUT.raw [ROUNDS]
//
// takes the first 200 slices as 2.5×0.8×0.8 mm, does the work ROUNDS times after one warm-up,
// writes the result (float32 334×274×274, or uint8 200×512×512) to OUT.raw unless that is "-", and
// prints {"cpu_s": [...], "wall_s": [...]}.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>

#include "bench/npy_volume.hpp"
#include "headrace/ingest/volume/body_mask.hpp"
#include "headrace/transform/volume/volume_graph.hpp"

namespace {

using namespace headrace;
using bench::Volume;

constexpr std::int64_t kSlices = 200;
constexpr std::array<double, 3> kSpacingMm{2.5, 0.8, 0.8};
constexpr double kTargetMm = 1.5;
constexpr std::array<std::int32_t, 3> kOut{334, 274, 274};
constexpr std::int32_t kBand =
    32;  // slices of the result made at once: their window stays in the cache

double seconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// The whole CT at kTargetMm, the outer face of the first voxel kept.
class Resampler {
 public:
  Resampler()
      : out(static_cast<std::size_t>(kOut[0]) * kOut[1] * kOut[2]),
        graph_(transform::VolumeGraph::compile(
            {}, {{kBand, kOut[1], kOut[2]}, {kTargetMm, kTargetMm, kTargetMm}})),
        rest_(transform::VolumeGraph::compile(
            {}, {{kOut[0] % kBand, kOut[1], kOut[2]}, {kTargetMm, kTargetMm, kTargetMm}})) {}

  void run(const Volume& volume) {
    for (std::int32_t z = 0; z < kOut[0]; z += kBand)
      band(volume, z, kOut[0] - z < kBand ? rest_ : graph_);
  }

  std::vector<float> out;

 private:
  void band(const Volume& volume, std::int32_t z, const transform::VolumeGraph& graph) {
    const auto& size = graph.patch().size_zyx;
    const std::array<double, 3> centre{(z + size[0] / 2.0) * kTargetMm / kSpacingMm[0],
                                       kOut[1] / 2.0 * kTargetMm / kSpacingMm[1],
                                       kOut[2] / 2.0 * kTargetMm / kSpacingMm[2]};
    const auto params = graph.draw({}, {}, false);
    graph.locate(*params, centre, kSpacingMm, geometry_);
    const Box3& w = geometry_.window;
    // The window may reach past the CT; the extent gives the part that exists.
    transform::VolumeView<std::int16_t> view{
        volume.at(w.origin_zyx[0], w.origin_zyx[1], w.origin_zyx[2]),
        {},
        volume.shape[2],
        volume.shape[1] * volume.shape[2]};
    Box3 extent;
    for (std::size_t a = 0; a < 3; ++a) {
      view.shape_zyx[a] = static_cast<std::int32_t>(w.size_zyx[a]);
      extent.origin_zyx[a] = std::max<std::int64_t>(0, -w.origin_zyx[a]);
      extent.size_zyx[a] =
          std::min(w.size_zyx[a], volume.shape[a] - w.origin_zyx[a]) - extent.origin_zyx[a];
    }
    graph.run(*params, geometry_, view, {}, extent, 0,
              out.data() + static_cast<std::size_t>(z) * kOut[1] * kOut[2], nullptr, scratch_);
  }

  transform::VolumeGraph graph_, rest_;
  transform::VolumeGeometry geometry_;
  transform::VolumeScratch scratch_;
};

pixels::BitVolume mask(const Volume& volume) {
  pixels::BitVolume above({volume.shape[0], volume.shape[1], volume.shape[2]});
  for (std::int64_t z = 0; z < volume.shape[0]; ++z) {
    pixels::threshold_slice(volume.at(z, 0, 0), ingest::kBodyThresholdHu, z, above);
  }
  return ingest::body_mask(std::move(above), kSpacingMm);
}

void time_rounds(int rounds, const std::function<void()>& work) {
  std::vector<double> cpu_s, wall_s;
  work();
  for (int i = 0; i < rounds; ++i) {
    const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
    work();
    cpu_s.push_back(seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    wall_s.push_back(seconds(CLOCK_MONOTONIC) - wall);
  }
  fmt::print("{{\"cpu_s\": [{:.6f}], \"wall_s\": [{:.6f}]}}\n", fmt::join(cpu_s, ", "),
             fmt::join(wall_s, ", "));
}

void save(const std::string& path, const void* data, std::size_t bytes) {
  if (path == "-") return;
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  if (!file.flush()) fail(ErrorCode::io, "{}: cannot be written", path);
}

int run(int argc, char** argv) {
  const std::string what = argc > 3 ? argv[1] : "";
  if (what != "resample" && what != "body_mask") {
    fmt::print(stderr, "usage: bench_volume_prepare resample|body_mask CT.npy OUT.raw [ROUNDS]\n");
    return 2;
  }
  const int rounds = argc > 4 ? std::max(1, std::atoi(argv[4])) : 5;
  const Volume volume = bench::load_npy(argv[2], kSlices);
  if (what == "resample") {
    Resampler resampler;
    time_rounds(rounds, [&] { resampler.run(volume); });
    save(argv[3], resampler.out.data(), resampler.out.size() * sizeof(float));
    return 0;
  }
  pixels::BitVolume body({1, 1, 1});
  time_rounds(rounds, [&] { body = mask(volume); });
  std::vector<std::uint8_t> bytes;
  for (std::int64_t i = 0; i < volume.count(); ++i) {
    const std::int64_t row = i / volume.shape[2];
    bytes.push_back(body.get(row / volume.shape[1], row % volume.shape[1], i % volume.shape[2]));
  }
  save(argv[3], bytes.data(), bytes.size());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
