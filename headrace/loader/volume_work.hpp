#pragma once
#include <memory>
#include <vector>

#include "headrace/loader/batch_work.hpp"
#include "headrace/transform/volume/reach.hpp"

namespace headrace::loader::detail {

/// Batches of volumes: a window of HU and, in the same box, one of labels. Of a turned patch only
/// the chunks that it reaches are read.
class VolumeWork : public BatchWork {
 public:
  using BatchWork::BatchWork;

  void launch(const DeviceTarget& target) const override;
  /// All samples of the batch, with their windows in a copy of the arena at `windows`.
  std::vector<transform::VolumePatch> patches(const std::byte* windows) const;

 private:
  /// Slices of a window that lie in the same chunks.
  struct Slab {
    std::int64_t first = 0, count = 0;  ///< slices of the extent
    std::vector<zarr::RowSpan> spans;   ///< columns of the extent that are needed, a row each
    std::size_t read = 0;               ///< region of read_
  };
  struct Sample {
    std::shared_ptr<const transform::VolumeParams> params;
    transform::VolumeGeometry geometry;
    Box3 extent;         ///< the part that the level has, in window voxels
    bool empty = false;  ///< the level has none of it: nothing is read
    bool has_label = false;
    std::int64_t row = 0;  ///< voxels from row to row of the windows in memory
    std::size_t image_place = 0, label_place = 0;  ///< in the arena
    std::shared_ptr<const zarr::Array> image, label;
    std::vector<Slab> image_slabs, label_slabs;
  };

  void reserve(std::size_t samples) override { samples_.resize(samples); }
  void plan_sample(std::size_t s, const transform::SampleKey& key) override;
  void add_reads(std::size_t s) override;
  void lay_out(std::size_t s) override;
  void fill(std::size_t s) override;
  void locate_regions(std::size_t s, std::span<std::uint64_t> destinations) const override;
  void make(std::size_t s, std::byte* images, std::uint8_t* labels, Worker& worker,
            StageTimes& times) override;

  static void cut(const Sample& sample, const transform::VolumeReach& reach,
                  const zarr::Array& array, std::vector<Slab>& slabs);
  void add_slabs(const Sample& sample, const std::shared_ptr<const zarr::Array>& array,
                 std::int64_t voxel_bytes, std::vector<Slab>& slabs);
  static std::int64_t window_voxels(const Sample& sample);
  /// Voxels of the window in front of the first that the slab reads.
  static std::int64_t first_voxel(const Sample& sample, const Slab& slab);
  template <typename T>
  void decode(const Sample& sample, const std::vector<Slab>& slabs, std::byte* memory);
  template <typename T>
  static transform::VolumeView<T> view(const Sample& sample, const std::byte* memory);
  template <typename T>
  transform::VolumeView<T> decoded(const Sample& sample, const std::vector<Slab>& slabs,
                                   device::HostBuffer& memory);

  std::vector<Sample> samples_;
};

}  // namespace headrace::loader::detail
