#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/cohort/cohort.hpp"
#include "headrace/core/dtype.hpp"
#include "headrace/core/intensity_unit.hpp"
#include "headrace/imaging/volume/volume_grid.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::view {

/// One resolution of a volume.
struct VoxelScale {
  std::array<std::int64_t, 3> shape_zyx{};
  std::array<double, 3> spacing_mm_zyx{};
};

/// Voxels of a volume in the store's order (LPS): of an image, int16 stored_per_unit of its unit;
/// of labels, maps and probabilities uint8. Safe from any thread.
class VoxelSource {
 public:
  virtual ~VoxelSource() = default;
  /// The finest first; all begin at the same corner.
  const std::vector<VoxelScale>& scales() const noexcept { return scales_; }
  DType dtype() const noexcept { return dtype_; }
  /// A box inside a scale, (z, y, x), x adjacent. Errors: corrupt, io.
  virtual void read(std::size_t scale, const std::array<std::int64_t, 3>& origin_zyx,
                    const std::array<std::int64_t, 3>& size_zyx, std::byte* dst) const = 0;

 protected:
  std::vector<VoxelScale> scales_;
  DType dtype_ = DType::uint8;
};

/// Axial slice z of the first scale, (y, x), in the machine's byte order. Errors: those of read.
std::vector<std::byte> axial_slice(const VoxelSource& source, std::int64_t z);

std::shared_ptr<const VoxelSource> stored_volume(const cohort::Cohort& cohort, std::size_t image,
                                                 std::size_t channel);
/// Values of a label set, as stored.
std::shared_ptr<const VoxelSource> stored_volume_labels(const cohort::Cohort& cohort,
                                                        std::size_t image, const std::string& set);
std::shared_ptr<const VoxelSource> predicted_volume_classes(const result::ImageResult& result);
/// Numbers of lesions; null for a run that looks for none.
std::shared_ptr<const VoxelSource> predicted_lesions(const result::ImageResult& result);
std::shared_ptr<const VoxelSource> predicted_volume_probability(const result::ImageResult& result,
                                                                std::size_t class_value);

/// A volume of a file, whole in memory.
struct VolumeInMemory {
  std::shared_ptr<const VoxelSource> source;
  imaging::VolumeGrid grid;  ///< of the source's first scale
  IntensityUnit unit = IntensityUnit::hu;
  std::uint64_t bytes = 0;
};
/// Reads all voxels, with the levels that an ingest would store. Errors: as VolumeReader.
VolumeInMemory load_volume(const imaging::VolumeReader& reader);

}  // namespace headrace::view
