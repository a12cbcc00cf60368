#pragma once
#include <memory>
#include <string>
#include <vector>

#include "headrace/imaging/dicom/slice_stack.hpp"
#include "headrace/imaging/volume/volume_reader.hpp"

namespace headrace::imaging {

/// An even, upright volume from a stack of slices that is uneven or tilted: slices that lie on the
/// grid are taken as they are, between them linear interpolation of the two neighbours, each shifted
/// back in its plane (bilinear). Wide enough for every slice; air (-1024 HU, 0 SUV) where there is
/// none. Doubled slices count once when their pixels are equal.
///
/// in      raw     slices as they are; its grid's spacing is that of the result
///         places  of each slice, ascending
/// errors  malformed: more slices than a volume may have; corrupt: doubled slices with different pixels (found when they are read; names `series`)
std::unique_ptr<VolumeReader> resample_stack(std::unique_ptr<VolumeReader> raw,
                                             std::vector<SlicePlace> places,
                                             const StackFindings& findings,
                                             const std::string& series);

}  // namespace headrace::imaging
