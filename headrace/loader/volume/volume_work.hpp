#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "headrace/loader/batch_work.hpp"
#include "headrace/transform/volume/reach.hpp"

namespace headrace::loader::detail {

/// Batches of volumes: a window of stored values of each channel and, in the same box, one of
/// labels. For a turned patch only the chunks that it reaches are read.
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
    std::vector<zarr::RowSpan> spans;   ///< needed columns of the extent, one span for each row
    std::size_t read = 0;               ///< region of read_
  };
  /// One channel of a sample.
  struct Channel {
    bool stored = true;  ///< false: the volume lacks it, and its values are 0
    std::shared_ptr<const transform::VolumeParams> params;
    std::shared_ptr<const zarr::Array> image;
    std::vector<Slab> slabs;
    std::size_t place = 0;  ///< in the arena
  };
  struct Sample {
    std::vector<Channel> channels;  ///< in the order of the batch
    std::size_t first = 0;          ///< the first stored one: gives the geometry of all, and takes
                                    ///< the labels
    transform::VolumeGeometry geometry;
    Box3 extent;         ///< the part that the level has, in window voxels
    bool empty = false;  ///< the level has none of it: nothing is read
    bool has_label = false;
    std::int64_t row = 0;         ///< voxels from row to row of the windows in memory
    std::size_t label_place = 0;  ///< in the arena
    std::shared_ptr<const zarr::Array> label;
    std::vector<Slab> label_slabs;
  };

  void reserve(std::size_t samples) override { samples_.resize(samples); }
  void plan_sample(std::size_t s, const transform::SampleKey& key) override;
  void add_reads(std::size_t s) override;
  void lay_out(std::size_t s) override;
  void fill(std::size_t s) override;
  void locate_regions(std::size_t s, std::span<std::uint64_t> destinations) const override;
  void make(std::size_t s, std::byte* images, std::uint8_t* labels, Worker& worker,
            StageTimes& times) override;

  /// Opens the channels' arrays of level `level` and draws their parameters.
  void plan_channels(Sample& sample, const cohort::ImageRecord& image, std::size_t number,
                     std::size_t level, const transform::SampleKey& key);
  static void cut(const Sample& sample, const transform::VolumeReach& reach,
                  const zarr::Array& array, std::vector<Slab>& slabs);
  void add_slabs(const Sample& sample, const std::shared_ptr<const zarr::Array>& array,
                 std::int64_t voxel_bytes, std::vector<Slab>& slabs);
  static std::int64_t window_voxels(const Sample& sample);
  /// Voxels of the window before the first one that the slab reads.
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
