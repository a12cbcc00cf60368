#pragma once
#include <memory>
#include <string>

#include "headrace/imaging/volume/volume_reader.hpp"

namespace headrace::imaging {

/// NIfTI, https://nifti.nimh.nih.gov. Read: NIfTI-1 and -2 in one file, plain or gzip, either byte
/// order, 8- to 64-bit integers and float32/64, scl_slope and scl_inter, qform and sform. Not read:
/// pairs, complex, RGB, several volumes. Errors: not_found, malformed, unsupported, corrupt; each
/// names the file.
std::unique_ptr<VolumeReader> open_nifti(const std::string& path);

}  // namespace headrace::imaging
