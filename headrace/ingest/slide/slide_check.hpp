#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "headrace/imaging/note.hpp"
#include "headrace/ingest/slide/colour_statistics.hpp"
#include "headrace/ingest/slide/slide_plan.hpp"
#include "headrace/pixels/image.hpp"
#include "headrace/pixels/tissue/tissue_mask.hpp"

namespace headrace::ingest {

/// A stored level of a slide.
using OpenLevel = std::function<std::shared_ptr<const zarr::Array>(std::size_t level)>;

/// What is to be said of a slide's pixels before they are used: one colour everywhere, no tissue,
/// another picture than bright field, blur, stains unlike haematoxylin and eosin. The measures are
/// those of predict's remarks, with the same values; what only a run can tell is left to it.
///
/// low     the pixels from which the tissue mask was made
/// open    levels are read where sharpness is judged: a quarter of the windows, and all of them
///         only where these are not clearly sharp
/// errors  those of reading the store
std::vector<imaging::Note> check_slide(const SlidePlan& plan, const pixels::Image8& low,
                                       const pixels::TissueMask& tissue, const SlideColour& colour,
                                       const OpenLevel& open);

}  // namespace headrace::ingest
