#pragma once
#include <memory>
#include <string>

#include "headrace/imaging/volume/volume_reader.hpp"

namespace headrace::imaging {

/// NRRD (teem.sourceforge.net/nrrd/format.html). Read: .nrrd and .nhdr with one data file beside
/// it, 3-D, one value a voxel, raw or gzip, either byte order, spaces LPS, RAS and LAS. Errors:
/// not_found, malformed, unsupported, corrupt; each names the file.
std::unique_ptr<VolumeReader> open_nrrd(const std::string& path);

}  // namespace headrace::imaging
