#pragma once
#include <memory>
#include <vector>

#include "headrace/loader/batch_work.hpp"

namespace headrace::loader::detail {

/// Batches of volumes: a window of HU and, in the same box, one of labels.
class VolumeWork : public BatchWork {
 public:
  using BatchWork::BatchWork;

 private:
  struct Sample {
    std::shared_ptr<const transform::VolumeParams> params;
    transform::VolumeGeometry geometry;
    Box3 extent;         ///< the part that the level has, in window voxels
    bool empty = false;  ///< the level has none of it: nothing is read
    bool has_label = false;
    std::int64_t row = 0;  ///< voxels from row to row of the windows in memory
    std::size_t image_read = 0, label_read = 0;  ///< regions of read_
    std::shared_ptr<const zarr::Array> image, label;
  };

  void reserve(std::size_t samples) override { samples_.resize(samples); }
  void plan_sample(std::size_t s, const transform::SampleKey& key) override;
  void add_reads(std::size_t s) override;
  void make(std::size_t s, float* images, std::uint8_t* labels, Worker& worker,
            StageTimes& times) override;

  std::size_t add_read(const Sample& sample, const std::shared_ptr<const zarr::Array>& array,
                       std::int64_t voxel_bytes);
  template <typename T>
  transform::VolumeView<T> decode(const Sample& sample, std::size_t read,
                                  device::HostBuffer& memory);

  std::vector<Sample> samples_;
};

}  // namespace headrace::loader::detail
