#pragma once
#include <string>

#include "learn/handover/dicom/ct_prediction.hpp"
#include "learn/handover/slide/predicted_slide.hpp"

namespace headrace::handover {

/// Writes the class map of a slide as a DICOM Segmentation (PS3.3, A.51): BINARY, a segment for
/// each of `prediction.segments`, tiles of 512² pixels of the map, of which those without a pixel
/// of their segment are left out (TILED_SPARSE). Its total pixel matrix is the map, with the map's
/// own pixel spacing, in the frame of reference of the DICOM slide that was predicted; study,
/// patient, container and specimen are the slide's. Where nothing was found at all, one tile of
/// zeros says so.
///
/// in      prediction  its segments, algorithm and time
///         source      a file of the slide, or a folder that holds it
/// memory  the tiles, one bit a pixel, and one row of tiles
/// errors  usage (no such slide, more than one), malformed (its headers lack what a reference
///         needs), unsupported (4 GiB of tiles; a build without DCMTK), io
WrittenObject write_slide_segmentation(const PredictedSlide& slide, const CtPrediction& prediction,
                                       const std::string& source, const std::string& path);

}  // namespace headrace::handover
