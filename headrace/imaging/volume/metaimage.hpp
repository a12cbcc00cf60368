#pragma once
#include <memory>
#include <string>

#include "headrace/imaging/volume/volume_reader.hpp"

namespace headrace::imaging {

/// MetaImage (itk.org/Wiki/ITK/MetaIO/Documentation). Read: .mha, and .mhd with one data file
/// beside it, 3-D, one channel, binary, plain or zlib, either byte order. Errors: not_found,
/// malformed, unsupported, corrupt; each names the file.
std::unique_ptr<VolumeReader> open_metaimage(const std::string& path);

}  // namespace headrace::imaging
