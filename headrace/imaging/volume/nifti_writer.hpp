#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "headrace/core/dtype.hpp"
#include "headrace/core/threads.hpp"
#include "headrace/imaging/volume/volume_grid.hpp"

namespace headrace::imaging {

/// Writes a NIfTI-1 volume, gzip-compressed, slice by slice; it appears under its name only when
/// complete. The sform (code 1, scanner) carries the grid; text fields stay empty. The same voxels
/// give the same bytes for any number of threads: every slice is a separate deflate block in one
/// gzip member.
///
/// in      path    ends in .nii.gz
///         dtype   int16 or uint8
///         slope   the value of a stored 1, as in scl_slope
///         render  fills slice z, (y, x), little-endian; called from several threads
/// memory  a few slices for each thread
/// returns bytes written
/// errors  usage (an axis over 32767, another dtype), io; what `render` throws passes through
std::uint64_t write_nifti_gz(const std::string& path, const VolumeGrid& grid, DType dtype,
                             ThreadPool& pool,
                             const std::function<void(std::int64_t z, std::byte* dst)>& render,
                             float slope = 1);

}  // namespace headrace::imaging
