#pragma once
#include <array>
#include <cstdint>
#include <functional>

#include "headrace/core/threads.hpp"
#include "headrace/imaging/volume/canonical_grid.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"

namespace headrace::ingest {

/// Reads the voxels of a file into a volume in canonical order. The file is always read along its
/// own order, since a compressed one can't be read backwards.
///
/// Where the file's slices are also slices of the volume, apart from their sequence (every axial
/// series), parts can be read one after the other; otherwise all of it is read at once.
class CanonicalSlices {
 public:
  /// Called for each slice of the volume when the slice is complete, from several threads.
  using Done = std::function<void(std::int64_t z)>;

  /// stored: all of the volume, (z, y, x), in stored steps of `unit`. from_file: from
  /// canonical_grid.
  CanonicalSlices(const imaging::VolumeReader& reader, const imaging::AxisMap& from_file,
                  IntensityUnit unit, std::int16_t* stored, ThreadPool& pool, Done done);

  /// Whether `read` takes parts.
  bool by_parts() const { return map_.axis[2] == 2; }
  /// Whether the file's first slice is the volume's last one: then it is cheapest to read parts
  /// from the last one on.
  bool from_the_end() const { return by_parts() && map_.flip[2]; }
  /// Slices [z0, z0 + depth) of the volume; without by_parts() only all of them. Errors: as
  /// VolumeReader::read_int16.
  void read(std::int64_t z0, std::int64_t depth);

 private:
  void read_file_slice(std::int64_t z);

  const imaging::VolumeReader& reader_;
  const imaging::VolumeGrid& file_;
  imaging::AxisMap map_;
  std::array<std::int64_t, 3> shape_zyx_{};
  imaging::VoxelPlaces places_;
  IntensityUnit unit_;
  std::int16_t* stored_;
  ThreadPool& pool_;
  Done done_;
};

}  // namespace headrace::ingest
