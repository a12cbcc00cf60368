#pragma once
// For use inside handover/dicom only, as source_series.hpp.
#include <array>
#include <string>

#include "learn/handover/dicom/source_series.hpp"
#include "learn/result/image_result.hpp"

namespace headrace::handover {

/// The finest level of a slide that is DICOM (VL Whole Slide Microscopy), and its place on the
/// glass.
struct SlideSource {
  SourceSeries series;  ///< of that file: its header, its identifiers, one "slice"
  /// Between rows and between columns.
  std::array<double, 2> spacing_mm_yx{};
  double thickness_mm = 0;  ///< of the section in focus, which readers want to be stated
  /// Directions of increasing column and row in the slide coordinate system (x, y, z).
  imaging::Vec3 column_direction{}, row_direction{};
  std::array<double, 2> origin_mm_xy{};  ///< centre of the first pixel; 0, 0 where it is not stated
};

/// The slide under `source` (one of its files, or a folder) that has the size which the map states.
/// source  PS3.3, C.8.12.4 (Whole Slide Microscopy Image), C.8.12.2 (Slide Coordinates)
/// errors  usage (no such slide, or more than one), malformed (an identifier, the orientation or
///         the pixel spacing is missing), those of reading the files
SlideSource read_slide_source(const std::string& source, const result::SlideMap& map);

}  // namespace headrace::handover
