#include "headrace/ingest/volume/device_volume.hpp"

#include <algorithm>
#include <mutex>

#include "headrace/core/ignore_label.hpp"

namespace headrace::ingest {
namespace {

constexpr std::int64_t kSlabVoxels = std::int64_t{8} << 20;  // 16 MiB, or one slice

/// Areas of a workspace.
enum { kValues, kAbove, kScratch, kResult, kLabels, kCounts };

}  // namespace

/// Some slices, and the part of them in a workspace.
struct DeviceVolume::Slab {
  std::int64_t z0;
  pixels::SlicesShape shape;
  pixels::StatisticsWorkspace& workspace;

  std::int64_t voxels() const { return shape.depth * shape.height * shape.width; }
  std::int64_t words() const { return shape.depth * shape.height * shape.words(); }

  const std::int16_t* sent(const std::int16_t* hu) {
    auto* there = workspace.area<std::int16_t>(kValues, voxels());
    workspace.send(there, hu + z0 * shape.height * shape.width, voxels());
    return there;
  }
  std::uint64_t* sent(std::size_t area, const pixels::BitVolume& mask) {
    auto* there = workspace.area<std::uint64_t>(area, words());
    workspace.send(there, mask.row(z0, 0), words());
    return there;
  }
  /// Erodes or dilates by a rectangle.
  std::uint64_t* spread(const std::uint64_t* bits, const std::uint64_t* within, int ry, int rx,
                        bool erode) {
    auto* along_x = workspace.area<std::uint64_t>(kScratch, words());
    auto* result = workspace.area<std::uint64_t>(kResult, words());
    workspace.gather(pixels::WordAlongX{shape, bits, along_x, rx, erode});
    workspace.gather(pixels::WordAlongY{shape, along_x, within, result, ry, erode});
    return result;
  }
};

DeviceVolume::DeviceVolume(const std::int16_t* hu, const std::array<std::int64_t, 3>& shape_zyx,
                           pixels::StatisticsWorkspaces& workspaces, ThreadPool& pool)
    : hu_(hu), shape_(shape_zyx), workspaces_(workspaces), pool_(pool), above_(shape_zyx) {}

template <typename Body>
void DeviceVolume::each_slab(const Body& body) const {
  const std::int64_t depth =
      std::clamp<std::int64_t>(kSlabVoxels / (shape_[1] * shape_[2]), 1, shape_[0]);
  pool_.parallel_for(static_cast<std::size_t>((shape_[0] + depth - 1) / depth), [&](std::size_t i) {
    const std::int64_t z0 = static_cast<std::int64_t>(i) * depth;
    pixels::StatisticsWorkspaces::Lease workspace(workspaces_);
    Slab slab{z0,
              {std::min(depth, shape_[0] - z0), static_cast<std::int32_t>(shape_[1]),
               static_cast<std::int32_t>(shape_[2])},
              *workspace};
    body(slab);
  });
}

pixels::BitVolume DeviceVolume::eroded(int ry, int rx) {
  pixels::BitVolume out(shape_);
  each_slab([&](Slab& slab) {
    const std::int16_t* values = slab.sent(hu_);
    auto* above = slab.workspace.area<std::uint64_t>(kAbove, slab.words());
    slab.workspace.gather(pixels::ThresholdWord{slab.shape, values, kBodyThresholdHu, above});
    const std::uint64_t* result = slab.spread(above, nullptr, ry, rx, true);
    slab.workspace.fetch(above_.row(slab.z0, 0), above, slab.words());
    slab.workspace.fetch(out.row(slab.z0, 0), result, slab.words());
  });
  return out;
}

pixels::BitVolume DeviceVolume::grown(const pixels::BitVolume& core, int ry, int rx) {
  pixels::BitVolume out(shape_);
  each_slab([&](Slab& slab) {
    // The values are not needed: their area holds the core.
    const std::uint64_t* from = slab.sent(kValues, core);
    const std::uint64_t* above = slab.sent(kAbove, above_);
    const std::uint64_t* result = slab.spread(from, above, ry, rx, false);
    slab.workspace.fetch(out.row(slab.z0, 0), result, slab.words());
  });
  return out;
}

void DeviceVolume::count(const pixels::BitVolume& body, const std::uint8_t* labels,
                         IntensityHistogram& in_body, IntensityHistogram& labelled) const {
  constexpr std::int64_t kBins = pixels::IntensityCount::kBins;
  std::mutex mutex;
  each_slab([&](Slab& slab) {
    const std::int16_t* values = slab.sent(hu_);
    const std::uint64_t* mask = slab.sent(kAbove, body);
    auto* counts = slab.workspace.cleared<std::uint64_t>(kCounts, 2 * kBins);
    slab.workspace.gather(
        pixels::IntensityCount{slab.shape, values, mask, nullptr, kIgnoreLabel, counts});
    if (labels != nullptr) {
      auto* there = slab.workspace.area<std::uint8_t>(kLabels, slab.voxels());
      slab.workspace.send(there, labels + slab.z0 * shape_[1] * shape_[2], slab.voxels());
      slab.workspace.gather(
          pixels::IntensityCount{slab.shape, values, nullptr, there, kIgnoreLabel, counts + kBins});
    }
    std::vector<std::uint64_t> got(static_cast<std::size_t>(2 * kBins));
    slab.workspace.fetch(got.data(), counts, 2 * kBins);
    const std::lock_guard lock(mutex);
    in_body.add_counts({got.data(), static_cast<std::size_t>(kBins)});
    labelled.add_counts({got.data() + kBins, static_cast<std::size_t>(kBins)});
  });
}

}  // namespace headrace::ingest
