#pragma once
#include <string>

#include "headrace/core/json.hpp"
#include "headrace/ingest/volume/volume_plan.hpp"

namespace headrace::ingest {

/// "multiscales" of OME-Zarr 0.5 in millimetres: each level's scale is exactly 2^k of level 0 on
/// the axes that halve, and its translation the centre of its first voxel in level 0's frame (z, y,
/// x), whose origin is the LPS position of the first voxel. Version 0.5 can't express directions;
/// attributes.headrace.affine_lps has them. https://ngff.openmicroscopy.org/0.5/
Json volume_multiscales(const VolumePlan& plan, const std::string& name, bool image);

/// attributes.ome of a volume, or of a further channel in its unit.
Json ome_volume(const VolumePlan& plan, const std::string& id,
                IntensityUnit unit = IntensityUnit::hu);

}  // namespace headrace::ingest
