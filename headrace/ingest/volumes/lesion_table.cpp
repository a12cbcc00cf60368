#include "headrace/ingest/volumes/lesion_table.hpp"

#include <algorithm>

#include "headrace/imaging/volume/canonical_grid.hpp"
#include "headrace/ingest/volumes/volume_components.hpp"

namespace headrace::ingest {
namespace {

BitVolume voxels_of(const std::uint16_t* labels, const std::array<std::int64_t, 3>& shape,
                    std::uint16_t value) {
  BitVolume mask(shape);
  for (std::int64_t z = 0; z < shape[0]; ++z) {
    for (std::int64_t y = 0; y < shape[1]; ++y, labels += shape[2]) {
      std::uint64_t* row = mask.row(z, y);
      for (std::int64_t x = 0; x < shape[2]; ++x)
        row[x >> 6] |= std::uint64_t{labels[x] == value} << (x & 63);
    }
  }
  return mask;
}

struct Sums {
  std::int64_t x = 0, y = 0, z = 0;  // of indices: exact
  std::array<std::int64_t, 3> low{INT64_MAX, INT64_MAX, INT64_MAX}, high{-1, -1, -1};

  void add(const Run& run) {
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
                                 const std::vector<std::uint16_t>& values) {
  std::vector<Lesion> lesions;
  const auto [z_mm, y_mm, x_mm] = imaging::tidy_spacing_mm_zyx(grid);
  const double voxel_mm3 = z_mm * y_mm * x_mm;
  for (const std::uint16_t value : values) {
    const Components components =
        find_components(voxels_of(labels, grid.shape_zyx, value), Neighbours::everything);
    std::vector<Sums> sums(components.sizes.size());
    for (const Run& run : components.runs) sums[run.component].add(run);
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
