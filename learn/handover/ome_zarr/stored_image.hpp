#pragma once
#include <cstddef>
#include <filesystem>

#include "headrace/cohort/cohort.hpp"
#include "learn/handover/ome_zarr/plain_image.hpp"

namespace headrace::handover {

/// An image of a store with all its levels, its channels (each an OME-Zarr image below channels/),
/// and as labels/<set> the label image of each label set that it has, in the colours of
/// predictions. A channel that the image lacks is left out. Levels that state no translation (those
/// of slides) get that of the mean of the pixels below. Errors: malformed (a group without OME
/// metadata), those of opening the arrays.
PlainImage stored_image(const cohort::Cohort& cohort, std::size_t image);

/// The same without labels.
PlainImage stored_pixels(const cohort::Cohort& cohort, std::size_t image);

}  // namespace headrace::handover
