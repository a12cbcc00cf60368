#pragma once
#include <string>

#include "headrace/imaging/volume/label_volume.hpp"
#include "headrace/ingest/inputs/doubt.hpp"
#include "headrace/ingest/volume/volume_case.hpp"

namespace headrace::ingest {

/// Turns the values of a mask into classes, in place, by the case's `coding` ("value 2" → class).
/// A mask that has no values but 0 and 255 has the only class in 255 where there is one class and no
/// mask of the run has another value; a note says so.
/// mask: the file's own grid, for error texts
/// errors  malformed (values without a class: each with its number of voxels); malformed, unless
///         accepted (Doubt::ignore_only): 255 that may be a class
void code_values_of_mask(const VolumeCase& volume, const std::string& path,
                         const imaging::VolumeGrid& mask, const Accepted& accepted,
                         imaging::LabelVolume& labels);

}  // namespace headrace::ingest
