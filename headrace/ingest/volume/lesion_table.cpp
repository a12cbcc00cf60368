#include "headrace/ingest/volume/lesion_table.hpp"

#include <algorithm>

#include "headrace/core/ignore_label.hpp"
#include "headrace/imaging/volume/canonical_grid.hpp"
#include "headrace/pixels/components.hpp"

namespace headrace::ingest {
namespace {

using Shape = std::array<std::int64_t, 3>;

/// [low, high) of the voxels of one value.
struct Extent {
  Shape low{INT64_MAX, INT64_MAX, INT64_MAX}, high{};
};

/// The box of each value below 256 that occurs, so that components are searched for only there.
std::vector<Extent> extents_of(const std::uint16_t* labels, const Shape& shape) {
  std::vector<Extent> extents(256);
  for (std::int64_t z = 0; z < shape[0]; ++z) {
    for (std::int64_t y = 0; y < shape[1]; ++y, labels += shape[2]) {
      for (std::int64_t x = 0; x < shape[2];) {
        const std::int64_t from = x;
        const std::uint16_t value = labels[x];
        while (x < shape[2] && labels[x] == value) ++x;
        if (value >= extents.size()) continue;
        Extent& extent = extents[value];
        const Shape first{z, y, from}, last{z, y, x - 1};
        for (std::size_t a = 0; a < 3; ++a) {
          extent.low[a] = std::min(extent.low[a], first[a]);
          extent.high[a] = std::max(extent.high[a], last[a] + 1);
        }
      }
    }
  }
  return extents;
}

/// The voxels of one value, as runs of the whole volume.
pixels::Components components_of(const std::uint16_t* labels, const Shape& shape,
                                 std::uint16_t value, const Extent& extent) {
  const auto& [low, high] = extent;
  pixels::BitVolume mask({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
  for (std::int64_t z = low[0]; z < high[0]; ++z) {
    for (std::int64_t y = low[1]; y < high[1]; ++y) {
      const std::uint16_t* line = labels + (z * shape[1] + y) * shape[2] + low[2];
      std::uint64_t* row = mask.row(z - low[0], y - low[1]);
      for (std::int64_t x = 0; x < high[2] - low[2]; ++x)
        row[x >> 6] |= std::uint64_t{line[x] == value} << (x & 63);
    }
  }
  pixels::Components components = pixels::find_components(mask, pixels::Neighbours::everything);
  for (pixels::Run& run : components.runs) {
    run.z += static_cast<std::int32_t>(low[0]);
    run.y += static_cast<std::int32_t>(low[1]);
    run.x0 += static_cast<std::int32_t>(low[2]);
    run.x1 += static_cast<std::int32_t>(low[2]);
  }
  return components;
}

struct Sums {
  std::int64_t x = 0, y = 0, z = 0;  // of indices: exact
  std::array<std::int64_t, 3> low{INT64_MAX, INT64_MAX, INT64_MAX}, high{-1, -1, -1};

  void add(const pixels::Run& run) {
    const std::int64_t count = run.x1 - run.x0;
    x += (static_cast<std::int64_t>(run.x0) + run.x1 - 1) * count /
         2;  // product is even: one of the factors is
    y += run.y * count;
    z += run.z * count;
    const std::array<std::int64_t, 3> first{run.z, run.y, run.x0}, last{run.z, run.y, run.x1 - 1};
    for (int i = 0; i < 3; ++i) {
      low[i] = std::min(low[i], first[i]);
      high[i] = std::max(high[i], last[i]);
    }
  }
};

}  // namespace

std::vector<Lesion> find_lesions(const std::uint16_t* labels, const imaging::VolumeGrid& grid,
                                 const std::vector<std::uint16_t>& values, SiteRows& sites) {
  std::vector<Lesion> lesions;
  const auto [z_mm, y_mm, x_mm] = imaging::tidy_spacing_mm_zyx(grid);
  const double voxel_mm3 = z_mm * y_mm * x_mm;
  const auto extents = extents_of(labels, grid.shape_zyx);
  for (std::uint16_t value = 1; value < kIgnoreLabel; ++value) {
    if (extents[value].high[0] == 0) continue;
    const pixels::Components components =
        components_of(labels, grid.shape_zyx, value, extents[value]);
    const bool told_apart = std::find(values.begin(), values.end(), value) != values.end();
    const auto first = static_cast<std::uint32_t>(lesions.size());
    for (const pixels::Run& run : components.runs) {
      sites.add_run(run.z, run.y, run.x0, run.x1, static_cast<std::uint8_t>(value),
                    told_apart ? first + run.component : cohort::kWholeClass);
    }
    if (!told_apart) continue;
    std::vector<Sums> sums(components.sizes.size());
    for (const pixels::Run& run : components.runs) sums[run.component].add(run);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      Lesion lesion;
      lesion.class_value = value;
      lesion.voxels = components.sizes[i];
      lesion.volume_mm3 = static_cast<double>(lesion.voxels) * voxel_mm3;
      const auto n = static_cast<double>(lesion.voxels);
      lesion.centre_lps_mm =
          grid.to_lps_mm(static_cast<double>(sums[i].x) / n, static_cast<double>(sums[i].y) / n,
                         static_cast<double>(sums[i].z) / n);
      lesion.box_zyx = sums[i].low;
      for (int a = 0; a < 3; ++a) lesion.size_zyx[a] = sums[i].high[a] - sums[i].low[a] + 1;
      lesions.push_back(lesion);
    }
  }
  return lesions;
}

}  // namespace headrace::ingest
