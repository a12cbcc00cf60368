#include "learn/view/volume/voxel_source.hpp"

#include <utility>

#include "headrace/imaging/volume/canonical_grid.hpp"
#include "headrace/zarr/array.hpp"

namespace headrace::view {
namespace {

using Array = std::shared_ptr<const zarr::Array>;
using Shape = std::array<std::int64_t, 3>;

/// Arrays (z, y, x), or one plane of an array (c, z, y, x).
class ArrayVoxels : public VoxelSource {
 public:
  static constexpr std::int64_t kNoPlanes = -1;

  explicit ArrayVoxels(std::int64_t plane = kNoPlanes) : plane_(plane) {}

  void add(Array array, const VoxelScale& scale) {
    dtype_ = array->metadata().dtype;
    arrays_.push_back(std::move(array));
    scales_.push_back(scale);
  }

  void read(std::size_t scale, const Shape& origin_zyx, const Shape& size_zyx,
            std::byte* dst) const override {
    const auto bytes = static_cast<std::int64_t>(size_of(dtype_));
    const std::int64_t row = size_zyx[2] * bytes, slice = size_zyx[1] * row;
    zarr::RegionRead read{{origin_zyx.begin(), origin_zyx.end()},
                          {size_zyx.begin(), size_zyx.end()},
                          dst,
                          {slice, row, bytes},
                          {}};
    if (plane_ != kNoPlanes) {
      read.origin.insert(read.origin.begin(), plane_);
      read.shape.insert(read.shape.begin(), 1);
      read.strides_bytes.insert(read.strides_bytes.begin(), slice * size_zyx[0]);
    }
    arrays_[scale]->read(read);
  }

 private:
  std::int64_t plane_;
  std::vector<Array> arrays_;
};

/// Of a map of a prediction: one scale, on the prediction's grid.
std::shared_ptr<const VoxelSource> map_of(const result::ImageResult& result, Array array,
                                          std::int64_t plane = ArrayVoxels::kNoPlanes) {
  const imaging::VolumeGrid& grid = result.facts().volume->grid;
  auto voxels = std::make_shared<ArrayVoxels>(plane);
  voxels->add(std::move(array), {grid.shape_zyx, imaging::tidy_spacing_mm_zyx(grid)});
  return voxels;
}

}  // namespace

std::vector<std::byte> axial_slice(const VoxelSource& source, std::int64_t z) {
  const auto [depth, height, width] = source.scales().front().shape_zyx;
  std::vector<std::byte> bytes(static_cast<std::size_t>(height * width) * size_of(source.dtype()));
  source.read(0, {z, 0, 0}, {1, height, width}, bytes.data());
  return bytes;
}

std::shared_ptr<const VoxelSource> stored_volume(const cohort::Cohort& cohort, std::size_t image,
                                                 std::size_t channel) {
  auto voxels = std::make_shared<ArrayVoxels>();
  const auto& levels = cohort.images()[image].volume->levels;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    voxels->add(cohort.image_array(image, k, channel),
                {levels[k].shape_zyx, levels[k].spacing_mm_zyx});
  }
  return voxels;
}

std::shared_ptr<const VoxelSource> stored_volume_labels(const cohort::Cohort& cohort,
                                                        std::size_t image, const std::string& set) {
  auto voxels = std::make_shared<ArrayVoxels>();
  const auto& level = cohort.images()[image].volume->levels.front();
  voxels->add(cohort.label_array(image, set, 0), {level.shape_zyx, level.spacing_mm_zyx});
  return voxels;
}

std::shared_ptr<const VoxelSource> predicted_volume_classes(const result::ImageResult& result) {
  return map_of(result, result.classes());
}

std::shared_ptr<const VoxelSource> predicted_lesions(const result::ImageResult& result) {
  Array array = result.lesions();
  return array ? map_of(result, std::move(array)) : nullptr;
}

std::shared_ptr<const VoxelSource> predicted_volume_probability(const result::ImageResult& result,
                                                                std::size_t class_value) {
  return map_of(result, result.probability(), static_cast<std::int64_t>(class_value));
}

}  // namespace headrace::view
