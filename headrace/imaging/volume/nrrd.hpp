#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "headrace/imaging/volume/volume_reader.hpp"

namespace headrace::imaging {

/// NRRD (teem.sourceforge.net/nrrd/format.html). Read: .nrrd and .nhdr with one data file beside
/// it, 3-D, one value a voxel, raw or gzip, either byte order, spaces LPS, RAS and LAS. Errors:
/// not_found, malformed, unsupported, corrupt; each names the file.
std::unique_ptr<VolumeReader> open_nrrd(const std::string& path);

/// A NRRD as a segmentation may be one: with several values a voxel, in layers.
struct LayeredNrrd {
  std::int64_t layers = 1;
  VolumeGrid grid;
  std::map<std::string, std::string> pairs;  ///< key:=value of the header
  /// Slices of the grid, whose rows hold the layers of a voxel one after the other.
  std::unique_ptr<VolumeReader> voxels;
};

/// Also read: a fourth axis in front, a list, as 3D Slicer writes its layers. Errors: as open_nrrd.
LayeredNrrd open_layered_nrrd(const std::string& path);

/// Whether the first bytes are those of a NRRD.
bool is_nrrd(const std::string& path);

}  // namespace headrace::imaging
