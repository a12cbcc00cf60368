#pragma once
#include <string>

#include "headrace/imaging/volume/canonical_grid.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"

namespace headrace::imaging {

/// What identifies a CT without naming it: the SHA-256 of its voxels as stores hold them, int16 in
/// steps of 1 HU, little-endian, (z, y, x) in canonical order. So it is the same for every file
/// format and axis order of one scan and for a store of it, with and without identifiers, and
/// another for another contrast phase or reconstruction.
///
/// in      from_file  of canonical_grid; jobs  threads (0: every core), of which the hash does not
///         depend
/// out     64 hexadecimal digits
/// memory  two bytes a voxel
/// errors  those of VolumeReader::read_int16
std::string voxel_hash(const VolumeReader& reader, const AxisMap& from_file, int jobs = 0);

}  // namespace headrace::imaging
