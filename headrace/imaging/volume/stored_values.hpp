#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "headrace/core/dtype.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"
#include "headrace/storage/byte_source.hpp"

namespace headrace::imaging {

/// Voxels as a file stores them, one after the other, x fastest.
struct StoredVoxels {
  std::string path;             ///< the file that holds them
  std::uint64_t file_skip = 0;  ///< bytes of the file before the (possibly packed) data
  storage::Packing packing = storage::Packing::detect;
  std::uint64_t data_offset = 0;  ///< bytes of the inflated data before the first voxel
  DType dtype = DType::int16;
  bool swapped = false;  ///< the byte order is not this machine's
  double slope = 1, intercept = 0;
  bool to_end = false;  ///< nothing may follow voxels that are not compressed
};

/// A reader of plain or gzip-compressed voxels; checks the size against the file before anything is
/// allocated. Errors: not_found, io, malformed (the file can't hold the voxels).
std::unique_ptr<VolumeReader> read_stored_voxels(StoredVoxels voxels, VolumeInfo info);

}  // namespace headrace::imaging
