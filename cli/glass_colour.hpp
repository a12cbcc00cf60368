#pragma once
#include <cstddef>

#include "cli/canvas.hpp"
#include "headrace/cohort/cohort.hpp"

namespace headrace::cli {

/// Colour of the glass beside a slide's tissue: the median of each channel over the pixels of its
/// coarsest level that the tissue mask leaves out; white where it leaves out none. Errors: as of
/// the arrays.
Rgb glass_colour(const cohort::Cohort& cohort, std::size_t image);

}  // namespace headrace::cli
