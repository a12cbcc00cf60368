#pragma once
#include <string>
#include <vector>

#include "headrace/cohort/ome_label.hpp"
#include "headrace/core/json.hpp"
#include "headrace/ingest/slide/slide_plan.hpp"

namespace headrace::ingest {

/// attributes.ome of an image: OME-Zarr 0.5 multiscales. Each level's scale is exactly 2^k of level
/// 0 (micrometres where the pixel size is known, else pixels), since level sizes are rounded.
/// https://ngff.openmicroscopy.org/0.5/
Json ome_image(const SlidePlan& plan, const std::string& id);

/// attributes.ome of a label image: the same pyramid, and the classes' names and colours.
Json ome_label(const SlidePlan& plan, const std::string& name,
               const std::vector<std::string>& classes);

}  // namespace headrace::ingest
