#include "headrace/imaging/volume/nifti_reader.hpp"

#include "headrace/imaging/volume/nifti_header.hpp"
#include "headrace/imaging/volume/stored_values.hpp"
#include "headrace/storage/byte_source.hpp"
#include "headrace/storage/open_store.hpp"

namespace headrace::imaging {

std::unique_ptr<VolumeReader> open_nifti(const std::string& path) {
  std::array<std::byte, kNiftiHeaderBytes> bytes{};
  const std::size_t found =
      storage::ByteSource(storage::open_input(path)).read_some(0, bytes.data(), bytes.size());
  const NiftiHeader header = parse_nifti_header({bytes.data(), found}, path);
  VolumeInfo info;
  info.grid = nifti_grid(header, path, info.notes);
  StoredVoxels voxels;
  voxels.path = path;
  voxels.data_offset = header.data_offset;
  voxels.dtype = header.dtype;
  voxels.swapped = header.swapped;
  voxels.slope = header.slope;
  voxels.intercept = header.intercept;
  return read_stored_voxels(std::move(voxels), std::move(info));
}

}  // namespace headrace::imaging
