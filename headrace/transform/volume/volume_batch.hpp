#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headrace/transform/volume/volume_graph.hpp"
#include "headrace/transform/volume/voxel.hpp"

namespace headrace::transform {

/// One sample of a batch, as for VolumeGraph::run. Without labels, its labels read as outside.
struct VolumePatch {
  const VolumeParams* params = nullptr;
  const VolumeGeometry* geometry = nullptr;
  VolumeView<std::int16_t> image;
  VolumeView<std::uint8_t> labels;
  Box3 extent;
};

/// One pass over all patches that take part: kernel(item, element), in any order.
struct VolumeLaunch {
  enum class Pass {
    smooth,
    row_controls,
    gather,
    row_sums,
    slice_sums,
    statistics,
    resolve,
    stages,
    blur,
    reduce,
    enlarge
  };
  Pass pass;
  std::int32_t items = 0, elements = 0;
  const void* kernels = nullptr;     ///< array of `items`, in the threads' memory
  VolumeStages* resolved = nullptr;  ///< resolve, stages
  std::int32_t axis = 0;             ///< blur
};

/// The work that makes a batch of volumes: launches in order, and the data that their kernels read.
/// Independent of the back end; the caller that runs it gives the memory.
class VolumeBatch {
 public:
  /// `patches` stay until write. Errors: memory (2³¹ values or more of an elastic map).
  VolumeBatch(const VolumeGraph& graph, std::span<const VolumePatch> patches);

  /// Sizes that write needs: memory that the host writes and the threads read, and memory of the
  /// threads only.
  std::size_t staging_bytes() const noexcept { return staging_bytes_; }
  std::size_t work_bytes() const noexcept { return work_bytes_; }

  /// in   staging        host memory that is written, aligned to 64 bytes
  ///      staging_there  its address when the threads read it
  ///      work           there too; aligned to 64 bytes
  ///      dst_labels     (samples, depth, height, width) there; null: no labels
  /// errors those of VolumeGraph::run
  std::vector<VolumeLaunch> write(std::byte* staging, std::byte* staging_there, std::byte* work,
                                  std::uint8_t outside_label, std::uint8_t* dst_labels) const;

 private:
  struct Writer;
  std::size_t work(std::size_t bytes);
  void add_room(const VolumePatch& patch);
  void smooth(Writer& to, std::byte* work, std::vector<VolumeView<std::int16_t>>& windows) const;
  void gather(Writer& to, std::byte* work, const std::vector<VolumeView<std::int16_t>>& windows,
              std::uint8_t outside_label, std::uint8_t* dst_labels) const;
  void later_passes(Writer& to, std::byte* work) const;

  /// Beginning of a patch's memory in `work`.
  struct Room {
    std::array<std::size_t, 2> smooth{}, planes{};
    std::size_t row_controls = 0, rows = 0, slices = 0, statistics = 0;
  };
  const VolumeGraph& graph_;
  std::span<const VolumePatch> patches_;
  std::int32_t voxels_ = 0, rows_ = 0;
  std::size_t most_passes_ = 0;
  std::vector<Room> rooms_;
  std::size_t resolved_ = 0, staging_bytes_ = 0, work_bytes_ = 0;
};

}  // namespace headrace::transform
