#pragma once
#include <cstddef>
#include <memory>

#include "headrace/cohort/cohort.hpp"
#include "headrace/imaging/slide/slide_reader.hpp"

namespace headrace::cohort {

/// An image of a store of slides, read as if it were the slide file: its levels, pixel size and
/// pixels; format "headrace". The downsample of level k is 2^k exactly. Pixels are those of the
/// store, white outside. Safe from any thread.
///
/// errors  usage (a store of volumes); while reading those of zarr::Array::read
std::unique_ptr<imaging::SlideReader> open_store_slide(std::shared_ptr<const Cohort> cohort,
                                                       std::size_t image);

}  // namespace headrace::cohort
