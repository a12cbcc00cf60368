#pragma once
#include "headrace/imaging/dicom/file_headers.hpp"

namespace headrace::imaging {

/// Whether two files hold the same pictures: byte for byte, or the same stored values in the same
/// places with the same rescaling, however they are coded. Errors: as FrameDecoder; io.
bool same_pictures(const FileHeader& a, const FileHeader& b);

}  // namespace headrace::imaging
