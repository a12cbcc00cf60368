#include "learn/handover/volume/volume_export.hpp"

#include <algorithm>

#include "headrace/core/error.hpp"
#include "headrace/imaging/volume/nifti_writer.hpp"
#include "headrace/imaging/volume/nrrd_writer.hpp"
#include "learn/handover/volume/file_order.hpp"

namespace headrace::handover {
namespace {

/// Fills slice z of the file; with `labels`, what was not predicted becomes background.
class FileSlices {
 public:
  FileSlices(const result::VolumeMap& map, std::span<const std::uint8_t> voxels, bool labels)
      : map_(map), voxels_(voxels), places_(file_places(map, voxels.size())), labels_(labels) {}

  void operator()(std::int64_t z, std::uint8_t* dst) const {
    imaging::slice_in_file_order(voxels_.data(), map_.file_grid, z, places_, dst);
    if (!labels_) return;
    std::replace(dst, dst + map_.file_grid.slice_voxels(), result::kNotPredicted, std::uint8_t{0});
  }

 private:
  const result::VolumeMap& map_;
  std::span<const std::uint8_t> voxels_;
  imaging::VoxelPlaces places_;
  bool labels_;
};

std::uint64_t write_nifti(const std::string& path, const result::VolumeMap& map,
                          const FileSlices& slices, float slope, ThreadPool& pool) {
  return imaging::write_nifti_gz(
      path, map.file_grid, DType::uint8, pool,
      [&](std::int64_t z, std::byte* dst) { slices(z, reinterpret_cast<std::uint8_t*>(dst)); },
      slope);
}

/// First and last voxel of every value in the file's axes, as NrrdSegment has them.
using Extents = std::array<std::array<std::int64_t, 6>, 256>;

/// One row's part of the extents: begin and end of x where a value occurs.
void extend(Extents& extents, const std::uint8_t* row, std::int64_t width, std::int64_t y,
            std::int64_t z) {
  for (std::int64_t x = 0; x < width; ++x) {
    auto& extent = extents[row[x]];
    const std::array<std::int64_t, 3> at{x, y, z};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      std::int64_t &first = extent[2 * axis], &last = extent[2 * axis + 1];
      const bool none = last < 0;
      first = none ? at[axis] : std::min(first, at[axis]);
      last = none ? at[axis] : std::max(last, at[axis]);
    }
  }
}

Extents extents_of(const result::VolumeMap& map, const FileSlices& slices) {
  Extents extents;
  extents.fill({0, -1, 0, -1, 0, -1});
  const auto [depth, height, width] = map.file_grid.shape_zyx;
  std::vector<std::uint8_t> slice(static_cast<std::size_t>(map.file_grid.slice_voxels()));
  for (std::int64_t z = 0; z < depth; ++z) {
    slices(z, slice.data());
    for (std::int64_t y = 0; y < height; ++y)
      extend(extents, slice.data() + y * width, width, y, z);
  }
  return extents;
}

const std::vector<std::int64_t>& shape_of(const zarr::Array& array, std::size_t axes) {
  const auto& shape = array.metadata().shape;
  if (shape.size() != axes) {
    fail(ErrorCode::malformed, "{}: {} axes, expected {}. Predict this volume again.", array.path(),
         shape.size(), axes);
  }
  return shape;
}

}  // namespace

std::vector<std::uint8_t> class_voxels(const zarr::Array& classes) {
  const auto& shape = shape_of(classes, 3);
  std::vector<std::uint8_t> voxels(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
  classes.read({{0, 0, 0},
                shape,
                reinterpret_cast<std::byte*>(voxels.data()),
                {shape[1] * shape[2], shape[2], 1},
                {}});
  return voxels;
}

std::vector<std::uint8_t> probability_voxels(const zarr::Array& probability,
                                             std::size_t class_value) {
  const auto& shape = shape_of(probability, 4);
  const auto plane = static_cast<std::int64_t>(class_value);
  if (plane >= shape[0]) {
    fail(ErrorCode::usage, "{}: no class {}; it has the probabilities of classes 0 to {}",
         probability.path(), class_value, shape[0] - 1);
  }
  const std::int64_t row = shape[3], slice = shape[2] * row, volume = shape[1] * slice;
  std::vector<std::uint8_t> voxels(static_cast<std::size_t>(volume));
  probability.read({{plane, 0, 0, 0},
                    {1, shape[1], shape[2], shape[3]},
                    reinterpret_cast<std::byte*>(voxels.data()),
                    {volume, slice, row, 1},
                    {}});
  return voxels;
}

std::uint64_t write_class_nifti(const std::string& path, const result::VolumeMap& map,
                                std::span<const std::uint8_t> voxels, ThreadPool& pool) {
  return write_nifti(path, map, FileSlices(map, voxels, true), 1, pool);
}

std::uint64_t write_probability_nifti(const std::string& path, const result::VolumeMap& map,
                                      std::span<const std::uint8_t> voxels, ThreadPool& pool) {
  return write_nifti(path, map, FileSlices(map, voxels, false), 1.0F / 255, pool);
}

std::uint64_t write_segmentation(const std::string& path, const result::VolumeMap& map,
                                 std::span<const std::uint8_t> voxels,
                                 std::span<const ClassLook> classes, ThreadPool& pool) {
  const FileSlices slices(map, voxels, true);
  const Extents extents = extents_of(map, slices);
  for (std::size_t value = std::max<std::size_t>(1, classes.size()); value < 256; ++value) {
    if (extents[value][1] < 0) continue;
    fail(ErrorCode::malformed, "{}: the map has class {}, but the result names {} classes", path,
         value, classes.size());
  }
  std::vector<imaging::NrrdSegment> segments;
  for (std::size_t value = 1; value < classes.size(); ++value) {
    segments.push_back({classes[value].name, static_cast<std::uint8_t>(value), classes[value].rgb,
                        extents[value]});
  }
  return imaging::write_segmentation_nrrd(path, map.file_grid, segments, pool, slices);
}

}  // namespace headrace::handover
