#include "headrace/imaging/volume/voxel_hash.hpp"

#include <span>
#include <vector>

#include "headrace/core/sha256.hpp"
#include "headrace/core/threads.hpp"

namespace headrace::imaging {

std::string voxel_hash(const VolumeReader& reader, const AxisMap& from_file, int jobs) {
  const VolumeGrid& file = reader.info().grid;
  const VoxelPlaces places = places_of(from_file, reordered(file, from_file).shape_zyx);
  std::vector<std::int16_t> voxels(static_cast<std::size_t>(file.voxels()));
  const auto take = [&](std::int64_t z) {
    std::vector<std::int16_t> slice(static_cast<std::size_t>(file.slice_voxels()));
    reader.read_int16(z, 1, slice.data());
    put_slice(slice.data(), file, z, places, voxels.data());
  };
  if (reader.concurrent()) {
    ThreadPool(jobs).parallel_for(static_cast<std::size_t>(file.shape_zyx[0]),
                                  [&](std::size_t z) { take(static_cast<std::int64_t>(z)); });
  } else {
    for (std::int64_t z = 0; z < file.shape_zyx[0]; ++z) take(z);
  }
  return sha256_hex(std::as_bytes(std::span(voxels)));
}

}  // namespace headrace::imaging
