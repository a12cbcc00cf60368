#pragma once
#include <vector>

#include "headrace/imaging/tiff/tiff_directory.hpp"

namespace headrace::imaging {

/// Holds what tiled directories claim against the file, for libraries that believe it: OpenSlide starts
/// on any width, and takes as much memory as a tile is said to have bytes. Tiles that are stated to be
/// missing are none.
///
/// errors  corrupt: fewer tiles are listed than the picture needs, a tile lies behind the file's end;
///         malformed: tiles without a size
void check_tiff_blocks(const storage::Object& file, const std::vector<TiffDirectory>& directories);

}  // namespace headrace::imaging
